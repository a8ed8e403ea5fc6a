//! Random programs of source forms: matches, conversions, structs with arrays, number systems, loops with `#[checkpoint]`.
//!
//! The macro makes all of these of the statements that the other random programs have, so they are made as source. A random tree is
//! printed twice, by printers of their own: as a program in the language, and as plain Rust that does the same, forward and
//! backwards. The plain program knows nothing of rev: it is what values and difference quotients are taken from.

mod make;
mod plain;
mod runner;
mod source;
mod text;
mod tree;
mod walk;

use crate::Dice;
pub use plain::ODD;
use tree::*;
use walk::{
    mentions, read, roots_of_cond, roots_of_expr, roots_of_literal, roots_of_several, roots_of_subject,
    written,
};

/// What a program is about, besides updates, branches, loops, ancillas and calls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Theme {
    /// `match`, `if let`, `Option`, enums, `convert`.
    Matches,
    /// Structs with arrays, as values and as a whole.
    Structs,
    /// Logarithmic and tropical numbers, odd integers.
    Numbers,
    /// Loops whose steps lose what was there, with matches.
    Checkpoints,
}

/// A random program.
#[derive(Clone, Debug)]
pub struct Form {
    /// The seed that it was made from.
    pub seed: u64,
    /// What it is about.
    pub theme: Theme,
    /// Whether it has a type parameter.
    pub generic: bool,
    /// Whether it has a tangent.
    pub tangent: bool,
    /// The fixed-point type that it is run on too.
    pub fixed: Option<&'static str>,
    /// The length of its arrays.
    pub long: usize,
    types: Vec<Declared>,
    pures: Vec<Pure>,
    functions: Vec<Function>,
}

impl Form {
    /// The program of a seed.
    pub fn generate(seed: u64) -> Form {
        make::make(seed)
    }

    /// A module's contents: types, the functions in the language, the plain ones, and what runs them.
    pub fn module(&self) -> String {
        format!("{}{}{}{}", self.declarations(), self.source(), plain::program(self), runner::runner(self))
    }

    /// The functions in the language.
    pub fn source(&self) -> String {
        source::program(self)
    }

    /// The length of a fixed-size array: a number, or computed from a constant.
    fn length(&self, n: usize) -> String {
        match (self.seed % 3, n) {
            (0, 2) => "LEN".into(),
            (0, 3) => "2 * LEN - 1".into(),
            (1, 3) => "LEN + 1".into(),
            _ => n.to_string(),
        }
    }

    fn declarations(&self) -> String {
        let types = self
            .types
            .iter()
            .map(|d| {
                let mut generics = Vec::new();
                generics.extend(self.has_reals(&d.name).then_some("T: Real"));
                generics.extend(d.named.then_some("const N: usize"));
                let generics =
                    if generics.is_empty() { String::new() } else { format!("<{}>", generics.join(", ")) };
                let head = "#[derive(Clone, Debug, PartialEq, Reversible)]\npub";
                match &d.of {
                    Parts::Struct(fields) => {
                        let each = |(name, ty): &(String, Type)| {
                            format!("    pub {name}: {},\n", self.ty(ty, "T", "N"))
                        };
                        let fields: String = fields.iter().map(each).collect();
                        format!("{head} struct {}{generics} {{\n{fields}}}\n\n", d.name)
                    }
                    Parts::Enum(variants) => {
                        let variants: String = variants.iter().map(|v| self.variant(v)).collect();
                        let head = head.replace("Clone", "Clone, Copy");
                        format!("{head} enum {}{generics} {{\n{variants}}}\n\n", d.name)
                    }
                }
            })
            .collect::<String>();
        format!("pub const LEN: usize = 2;\npub const TWO: i64 = 2;\n{}\n{types}", self.tables())
    }

    /// Tables that expressions read and loops visit.
    fn tables(&self) -> String {
        let mut dice = Dice::new(self.seed ^ 0x7ab1e);
        let mut list = |n: usize| {
            let each = (0..n).map(|_| format!("{:?}", (dice.below(129) as f64 - 64.0) / 64.0));
            each.collect::<Vec<_>>().join(", ")
        };
        let (weights, rows) = (list(self.long), [list(2), list(2), list(2)].join("], ["));
        format!(
            "pub const WEIGHTS: [f64; {}] = [{weights}];\npub const ROWS: [[f64; 2]; 3] = [[{rows}]];\n\
             pub const STEPS: [i64; 4] = [1, -2, 0, 3];\n",
            self.long
        )
    }

    fn variant(&self, (name, fields): &(String, Vec<(String, Type)>)) -> String {
        let named = fields.first().is_some_and(|(f, _)| f.parse::<usize>().is_err());
        let fields: Vec<String> = fields
            .iter()
            .map(|(f, ty)| match named {
                true => format!("{f}: {}", self.ty(ty, "T", "N")),
                false => self.ty(ty, "T", "N"),
            })
            .collect();
        match (fields.is_empty(), named) {
            (true, _) => format!("    {name},\n"),
            (false, true) => format!("    {name} {{ {} }},\n", fields.join(", ")),
            (false, false) => format!("    {name}({}),\n", fields.join(", ")),
        }
    }

    /// Leaves out the pure functions that are not called.
    fn forget_unused(&mut self) {
        while let Some(k) = self.unused() {
            self.pures.remove(k);
        }
    }

    fn unused(&self) -> Option<usize> {
        let text = self.source();
        let count = |head: &str, f: &Pure| text.matches(&format!("{head}{}(", f.name)).count();
        self.pures.iter().position(|f| count("", f) == count("fn ", f))
    }

    fn declared(&self, name: &str) -> Option<&Declared> {
        self.types.iter().find(|d| d.name == name)
    }

    fn scalar(&self) -> &'static str {
        if self.generic {
            "T"
        } else {
            "f64"
        }
    }

    fn has_reals(&self, name: &str) -> bool {
        let of = |ty: &Type| self.is_real(ty);
        match self.declared(name).map(|d| &d.of) {
            Some(Parts::Struct(fields)) => fields.iter().any(|(_, ty)| of(ty)),
            Some(Parts::Enum(variants)) => variants.iter().any(|(_, f)| f.iter().any(|(_, ty)| of(ty))),
            None => false,
        }
    }

    fn is_real(&self, ty: &Type) -> bool {
        match ty {
            Type::Real | Type::Fixed(_) | Type::Named | Type::Pair | Type::Matrix(..) => true,
            Type::Of(name) => name.starts_with('f'),
            Type::Ints(_) => false,
            Type::Vector(of, _) | Type::Slice(of, _) | Type::Stack(of) | Type::Option(of) => self.is_real(of),
            Type::Declared(name) => self.has_reals(name),
            Type::Number(system) => *system != System::Odd,
        }
    }

    /// Whether its enums and `Option`s are declared constant, so that nothing moves them.
    fn has_constants(&self) -> bool {
        self.seed / 4 % 5 == 2
    }

    /// Whether it is declared constant: in some programs enums and `Option`s that hold real numbers, and arrays of such.
    fn is_constant(&self, p: &Param) -> bool {
        let ty = match &p.ty {
            Type::Slice(of, _) | Type::Stack(of) => of,
            ty => ty,
        };
        let of_enum = match ty {
            Type::Option(_) => true,
            Type::Declared(name) => self.declared(name).is_some_and(|d| matches!(d.of, Parts::Enum(_))),
            _ => false,
        };
        let has_fields = matches!(ty, Type::Option(_)) || self.is_real(ty);
        self.has_constants() && of_enum && has_fields && !p.written
    }

    /// `<T, N>` of a declared type.
    fn arguments_of(&self, name: &str, scalar: &str, n: &str) -> String {
        let mut arguments = Vec::new();
        arguments.extend(self.has_reals(name).then_some(scalar));
        arguments.extend(self.declared(name).is_some_and(|d| d.named).then_some(n));
        if arguments.is_empty() {
            String::new()
        } else {
            format!("<{}>", arguments.join(", "))
        }
    }

    fn declared_type(&self, name: &str, scalar: &str, n: &str) -> String {
        format!("{name}{}", self.arguments_of(name, scalar, n))
    }

    fn ty(&self, ty: &Type, scalar: &str, n: &str) -> String {
        match ty {
            Type::Real => scalar.into(),
            Type::Of(name) => (*name).into(),
            Type::Fixed(k) => format!("[{scalar}; {}]", self.length(*k)),
            Type::Ints(k) => format!("[i64; {}]", self.length(*k)),
            Type::Named => format!("[{scalar}; {n}]"),
            Type::Pair => format!("({scalar}, {scalar})"),
            Type::Vector(of, _) | Type::Slice(of, _) => format!("Vec<{}>", self.ty(of, scalar, n)),
            Type::Matrix(..) => format!("Array2<{scalar}>"),
            Type::Stack(of) => format!("Stack<{}>", self.ty(of, scalar, n)),
            Type::Option(of) => format!("Option<{}>", self.ty(of, scalar, n)),
            Type::Declared(name) => self.declared_type(name, scalar, n),
            Type::Number(system) => system.name(scalar),
        }
    }

    /// Whether a parameter is a reference.
    fn is_reference(&self, p: &Param) -> bool {
        p.written || !matches!(p.ty, Type::Real | Type::Of(_) | Type::Option(_))
    }

    fn parameter(&self, p: &Param, scalar: &str, n: &str) -> String {
        let ty = match &p.ty {
            Type::Slice(of, _) => format!("[{}]", self.ty(of, scalar, n)),
            ty => self.ty(ty, scalar, n),
        };
        match (p.written, self.is_reference(p)) {
            (true, _) => format!("&mut {ty}"),
            (false, true) => format!("&{ty}"),
            (false, false) => ty,
        }
    }

    /// Whether a function has the const parameter `N`.
    fn uses_named(&self, f: &Function) -> bool {
        f.params.iter().any(|p| self.has_named(&p.ty))
    }

    fn has_named(&self, ty: &Type) -> bool {
        match ty {
            Type::Declared(name) => self.declared(name).is_some_and(|d| d.named),
            Type::Vector(of, _) | Type::Slice(of, _) => self.has_named(of),
            _ => false,
        }
    }

    /// The value that is left where an enum was moved away: its first variant, with zeros.
    fn zero_variant(&self, name: &str) -> String {
        let Some(Parts::Enum(variants)) = self.declared(name).map(|d| &d.of) else { return String::new() };
        let (variant, fields) = &variants[0];
        let named = fields.first().is_some_and(|(f, _)| f.parse::<usize>().is_err());
        let each: Vec<String> = fields
            .iter()
            .map(|(f, ty)| {
                let zero = match ty {
                    Type::Real => "0.0".to_string(),
                    Type::Of(_) => "0".into(),
                    Type::Fixed(n) => format!("[0.0; {n}]"),
                    Type::Ints(n) => format!("[0; {n}]"),
                    Type::Pair => "(0.0, 0.0)".into(),
                    Type::Option(_) => "None".into(),
                    Type::Declared(name) => self.zero_variant(name),
                    _ => String::new(),
                };
                if named {
                    format!("{f}: {zero}")
                } else {
                    zero
                }
            })
            .collect();
        match (each.is_empty(), named) {
            (true, _) => format!("{name}::{variant}"),
            (false, true) => format!("{name}::{variant} {{ {} }}", each.join(", ")),
            (false, false) => format!("{name}::{variant}({})", each.join(", ")),
        }
    }

    /// Whether a GPU takes its arguments: structs and stacks that hold arrays it doesn't.
    fn is_for_gpus(&self) -> bool {
        let holds_arrays = |ty: &Type| match ty {
            Type::Declared(name) => match self.declared(name).map(|d| &d.of) {
                Some(Parts::Struct(fields)) => fields
                    .iter()
                    .any(|(_, ty)| matches!(ty, Type::Vector(..) | Type::Matrix(..) | Type::Stack(_))),
                _ => false,
            },
            Type::Stack(of) => matches!(**of, Type::Vector(..)),
            _ => false,
        };
        self.functions.last().is_some_and(|f| !f.params.iter().any(|p| holds_arrays(&p.ty)))
    }
}
