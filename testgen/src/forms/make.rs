//! The random tree of a seed.
//!
//! What a program may do where follows from a list of places in scope, each with what may be done with it. A block's ancillas are
//! computed from what the rest of the block leaves alone, so every program can be taken back.

mod checkpoints;
mod patterns;
mod pures;
mod statements;
mod themes;
mod values;

use super::tree::*;
use super::{Form, Theme};
use crate::Dice;

/// What a place holds.
#[derive(Clone, Debug, PartialEq)]
enum Holds {
    Real,
    /// A number of a constant table.
    Tabled,
    Int,
    Truth,
    /// An array of so many real numbers, as a whole.
    Array(usize),
    Option(Type),
    Declared(String),
    Number(System),
    Stack,
    /// A number of a concrete type that is converted.
    Of(&'static str),
}

/// A part of the way to a place.
#[derive(Clone, Debug, PartialEq)]
enum Piece {
    Field(String),
    Element(usize),
    /// One index for each length.
    Index(Vec<usize>),
}

#[derive(Clone, Debug, PartialEq)]
enum Permission {
    Write,
    Read,
    /// Added to by all iterations.
    Add,
    /// Of an iteration, at its own index.
    Own(String),
    Hidden,
}

/// Places that differ by their indices only.
#[derive(Clone, Debug, PartialEq)]
struct Slot {
    root: String,
    by_reference: bool,
    pieces: Vec<Piece>,
    holds: Holds,
    permission: Permission,
    /// The variable that isn't changed as long as this is read.
    behind: String,
}

pub struct Maker<'a> {
    dice: &'a mut Dice,
    form: Form,
    slots: Vec<Slot>,
    frozen: Vec<String>,
    /// Loops around, each with the number of its iterations.
    loops: Vec<(String, usize)>,
    parallel: bool,
    names: usize,
    budget: usize,
    /// The one variable that may be written, where an ancilla is computed.
    only: Option<String>,
    /// What the statement in the making writes.
    target: Option<Slot>,
    /// Whether it stands in the function's own block, which runs once.
    top: bool,
    /// Elements that were converted into.
    converted: usize,
    /// Whether what is made runs backwards.
    inverting: bool,
    /// Functions that may be called.
    helpers: Vec<Function>,
}

/// The program of a seed.
pub fn make(seed: u64) -> Form {
    let mut dice = Dice::new(seed ^ 0x5eed_f02a);
    let theme = [Theme::Matches, Theme::Structs, Theme::Numbers, Theme::Checkpoints][(seed % 4) as usize];
    let round = seed / 4;
    let generic = theme != Theme::Matches || round.is_multiple_of(2);
    let fixed = ["FixedI32<U16>", "FixedI64<U20>", "FixedI128<U100>", "Fixed43"][dice.below(4)];
    let form = Form {
        seed,
        theme,
        generic,
        tangent: !round.is_multiple_of(3),
        fixed: (generic && round.is_multiple_of(2)).then_some(fixed),
        long: [4, 19][dice.below(2)],
        types: Vec::new(),
        pures: Vec::new(),
        functions: Vec::new(),
    };
    let mut m = Maker {
        dice: &mut dice,
        form,
        slots: Vec::new(),
        frozen: Vec::new(),
        loops: Vec::new(),
        parallel: false,
        names: 0,
        budget: 0,
        only: None,
        target: None,
        top: true,
        converted: 0,
        inverting: false,
        helpers: Vec::new(),
    };
    m.types();
    m.pures();
    m.helper();
    m.main();
    m.form.functions.append(&mut m.helpers);
    let main = m.form.functions.remove(0);
    m.form.functions.push(main);
    m.form.forget_unused();
    m.form
}

fn real(name: &str, e: Expr) -> (String, FieldValue) {
    (name.to_owned(), FieldValue::Real(e))
}

impl Maker<'_> {
    fn has(&self, theme: Theme) -> bool {
        self.form.theme == theme
    }

    fn name(&mut self, stem: &str) -> String {
        self.names += 1;
        format!("{stem}{}", self.names)
    }

    // ---- types ----

    fn types(&mut self) {
        let (n, declared) = (self.form.long, |s: &str| Type::Declared(s.into()));
        let text = |fields: Vec<(&str, Type)>| fields.into_iter().map(|(n, t)| (n.to_string(), t)).collect();
        if self.has(Theme::Matches) || self.has(Theme::Checkpoints) {
            let of = Parts::Enum(["Off", "On", "Half"].map(|v| (v.to_string(), Vec::new())).into());
            self.form.types.push(Declared { name: "Mode".into(), named: false, of });
            let count = 2 + self.dice.below(3);
            let mut variants = Vec::new();
            for (k, name) in ["A", "B", "C", "D"].into_iter().take(count).enumerate() {
                let fields = 1 + self.dice.below(3);
                let fields = match k {
                    0 if self.dice.chance(50) => Vec::new(),
                    _ => (0..fields).map(|_| self.variant_field()).collect::<Vec<_>>(),
                };
                let named = self.dice.chance(50);
                let label = |k: usize| if named { ["x", "y", "z"][k].to_string() } else { k.to_string() };
                let fields: Vec<(String, Type)> =
                    fields.into_iter().enumerate().map(|(k, ty)| (label(k), ty)).collect();
                variants.push((name.to_string(), fields));
            }
            if let Some((_, fields)) = variants.last_mut() {
                fields[0].1 = Type::Real;
            }
            self.form.types.push(Declared { name: "Kind".into(), named: false, of: Parts::Enum(variants) });
        }
        if self.has(Theme::Structs) {
            let named = self.dice.chance(50);
            let array = if named && self.dice.chance(50) { Type::Named } else { Type::Fixed(2) };
            let mut part = vec![("u", Type::Real), ("v", array.clone())];
            part.extend(self.dice.chance(60).then_some(("t", Type::Pair)));
            part.extend(self.dice.chance(50).then_some(("n", Type::Of("i64"))));
            let part_named = array == Type::Named;
            let of = Parts::Struct(text(part));
            self.form.types.push(Declared { name: "Part".into(), named: part_named, of });
            let mut model = vec![("a", Type::Vector(Box::new(Type::Real), n)), ("c", Type::Real)];
            model.extend(self.dice.chance(60).then_some(("m", Type::Matrix(n, 2))));
            let d = if named && !part_named { Type::Named } else { Type::Fixed(3) };
            model.extend((self.dice.chance(50) || d == Type::Named).then_some(("d", d)));
            model.extend((self.dice.chance(60) || part_named).then(|| ("part", declared("Part"))));
            model.extend(self.dice.chance(40).then(|| ("g", Type::Vector(Box::new(declared("Part")), n))));
            model.extend(self.dice.chance(40).then_some(("n", Type::Of("i64"))));
            model.extend(self.dice.chance(30).then(|| ("s", Type::Stack(Box::new(Type::Real)))));
            self.form.types.push(Declared { name: "Model".into(), named, of: Parts::Struct(text(model)) });
        }
    }

    fn variant_field(&mut self) -> Type {
        match self.dice.below(9) {
            0..=2 => Type::Real,
            3 => Type::Of("i64"),
            4 => Type::Fixed(2),
            5 => Type::Option(Box::new(self.held())),
            6 => Type::Declared("Mode".into()),
            7 => Type::Ints(2),
            _ => Type::Pair,
        }
    }

    /// What an `Option` holds.
    fn held(&mut self) -> Type {
        [Type::Real, Type::Of("i64"), Type::Fixed(2), Type::Pair][self.dice.below(4)].clone()
    }

    fn is_summable(&self, of: &str) -> bool {
        match self.form.declared(of).map(|d| &d.of) {
            Some(Parts::Struct(fields)) => !fields.iter().any(|(_, ty)| matches!(ty, Type::Stack(_))),
            _ => false,
        }
    }

    // ---- functions ----

    /// Brings the parameters of a function into scope.
    fn begin(&mut self, params: &[Param]) {
        self.slots.clear();
        self.frozen.clear();
        self.top = true;
        for p in params {
            let by_reference = self.form.is_reference(p);
            let permission = if p.written { Permission::Write } else { Permission::Read };
            let slot = Slot {
                root: p.name.clone(),
                by_reference,
                pieces: Vec::new(),
                holds: Holds::Real,
                permission,
                behind: p.name.clone(),
            };
            self.know(slot, &p.ty);
        }
        let n = self.form.long;
        for (name, holds, lengths) in [
            ("WEIGHTS", Holds::Tabled, vec![n]),
            ("ROWS", Holds::Tabled, vec![3, 2]),
            ("STEPS", Holds::Int, vec![4]),
        ] {
            let pieces = lengths.into_iter().map(|length| Piece::Index(vec![length])).collect();
            self.slots.push(Slot { pieces, holds, ..self.own(name, Holds::Real) });
        }
    }

    /// All places in something of a type.
    fn know(&mut self, slot: Slot, ty: &Type) {
        let mut of = |holds: Holds| self.slots.push(Slot { holds, ..slot.clone() });
        let with = |piece: Piece| {
            let mut slot = slot.clone();
            slot.pieces.push(piece);
            slot
        };
        match ty {
            Type::Real => of(Holds::Real),
            Type::Of("i64") => of(Holds::Int),
            Type::Of("bool") => of(Holds::Truth),
            Type::Of(name) => of(Holds::Of(name)),
            Type::Fixed(n) => {
                self.know(with(Piece::Index(vec![*n])), &Type::Real);
                self.slots.push(Slot { holds: Holds::Array(*n), ..slot });
            }
            Type::Ints(n) => self.know(with(Piece::Index(vec![*n])), &Type::Of("i64")),
            Type::Named => self.know(with(Piece::Index(vec![3])), &Type::Real),
            Type::Pair => (0..2).for_each(|k| self.know(with(Piece::Element(k)), &Type::Real)),
            Type::Vector(inner, n) | Type::Slice(inner, n) => {
                self.know(with(Piece::Index(vec![*n])), &inner.clone())
            }
            Type::Matrix(n, m) => self.know(with(Piece::Index(vec![*n, *m])), &Type::Real),
            Type::Stack(_) => of(Holds::Stack),
            Type::Option(inner) => of(Holds::Option((**inner).clone())),
            Type::Number(system) => of(Holds::Number(*system)),
            Type::Declared(name) => {
                of(Holds::Declared(name.clone()));
                let parts = self.form.declared(name).map(|d| d.of.clone());
                if let Some(Parts::Struct(fields)) = parts {
                    for (field, ty) in &fields {
                        self.know(with(Piece::Field(field.clone())), ty);
                    }
                }
            }
        }
    }

    fn helper(&mut self) {
        let declared = |s: &str| Type::Declared(s.into());
        let param =
            |name: &str, ty: Type, written: bool| Param { name: name.into(), ty, written, zero: false };
        let (mut params, mut of) = (vec![param("y", Type::Real, true)], None);
        match self.form.theme {
            Theme::Matches | Theme::Checkpoints => {
                params.push(param("e", declared("Kind"), false));
                if self.dice.chance(60) {
                    let array = [Type::Fixed(2), Type::Slice(Box::new(Type::Real), 2)];
                    params.push(param("v", array[self.dice.below(2)].clone(), false));
                }
            }
            Theme::Structs => {
                params.push(param("t", declared("Part"), false));
                if self.dice.chance(50) {
                    of = Some("Part".into());
                    params.insert(0, param("self", declared("Part"), true));
                } else {
                    params.insert(1, param("r", declared("Part"), true));
                }
            }
            Theme::Numbers => {
                params.push(param("l", Type::Number(System::Log), true));
                params.push(param("o", Type::Number(System::Log), false));
            }
        }
        params.push(param("c", Type::Real, false));
        self.begin(&params);
        self.budget = 4;
        let body = self.block(3);
        self.helpers.push(Function { name: "helper".into(), params, body, of });
    }

    fn main(&mut self) {
        let n = self.form.long;
        let declared = |s: &str| Type::Declared(s.into());
        let slice = |ty: Type| Type::Slice(Box::new(ty), n);
        let param =
            |name: &str, ty: Type, written: bool| Param { name: name.into(), ty, written, zero: false };
        let mut params = vec![
            param("y", slice(Type::Real), true),
            param("z", Type::Real, true),
            param("n", Type::Of("i64"), true),
            param("x", slice(Type::Real), false),
            param("k", slice(Type::Of("i64")), false),
            param("c", Type::Real, false),
        ];
        match self.form.theme {
            Theme::Matches | Theme::Checkpoints => {
                params.push(param("e", declared("Kind"), false));
                let moves = self.dice.chance(60) && !self.form.has_constants();
                params.push(param("es", slice(declared("Kind")), moves));
                params.push(param("ms", slice(declared("Mode")), self.dice.chance(30)));
                let (one, each) = (self.held(), self.held());
                params.push(param("o", Type::Option(Box::new(one)), false));
                params.push(param("os", slice(Type::Option(Box::new(each))), false));
                params.push(param("oi", Type::Option(Box::new(Type::Of("i64"))), false));
                if !self.form.generic {
                    params.push(param("w", slice(Type::Of("f32")), true));
                    params.push(Param { zero: true, ..param("d", slice(Type::Real), true) });
                    params.push(Param { zero: true, ..param("j", slice(Type::Of("i64")), true) });
                    params.push(param("lost", Type::Stack(Box::new(Type::Real)), true));
                } else {
                    params.push(param("kept", Type::Stack(Box::new(declared("Kind"))), true));
                }
            }
            Theme::Structs => {
                params.push(param("p", declared("Model"), true));
                params.push(param("q", declared("Model"), false));
                params.push(param("r", declared("Part"), true));
                params.push(param("rs", slice(declared("Part")), true));
                params.push(param("ts", slice(declared("Part")), false));
            }
            Theme::Numbers => {
                params.push(param("ls", slice(Type::Number(System::Log)), true));
                params.push(param("l", Type::Number(System::Log), true));
                params.push(param("lx", slice(Type::Number(System::Log)), false));
                params.push(param("h", slice(Type::Number(System::MaxPlus)), true));
                params.push(param("hx", slice(Type::Number(System::MaxPlus)), false));
                params.push(param("s", Type::Number(System::MinPlus), true));
                params.push(param("sx", slice(Type::Number(System::MinPlus)), false));
                if !self.form.tangent {
                    params.push(param("u", slice(Type::Number(System::Odd)), true));
                    params.push(param("ux", slice(Type::Number(System::Odd)), false));
                }
            }
        }
        if self.dice.chance(60) {
            params.push(param("xs", slice(Type::Fixed(2)), self.dice.chance(40)));
        }
        if !self.has(Theme::Checkpoints) {
            if self.dice.chance(40) {
                params.push(param("ways", Type::Stack(Box::new(Type::Of("bool"))), true));
            }
            if self.dice.chance(20) {
                let array = Type::Vector(Box::new(Type::Real), n);
                params.push(param("pile", Type::Stack(Box::new(array)), true));
            }
        }
        self.begin(&params);
        self.budget = 14;
        let body = match self.has(Theme::Checkpoints) {
            true => self.checkpointed(),
            false => self.block(7),
        };
        params.retain(|p| super::mentions(&body, &p.name));
        self.form.functions.push(Function { name: "program".into(), params, body, of: None });
    }

    // ---- places ----

    /// The places of a slot: an index for each axis.
    fn place(&mut self, slot: &Slot) -> Place {
        let mut own = match &slot.permission {
            Permission::Own(var) => Some(At::Var(var.clone())),
            _ => None,
        };
        let mut path = Vec::new();
        for piece in &slot.pieces {
            path.push(match piece {
                Piece::Field(name) => Step::Field(name.clone()),
                Piece::Element(k) => Step::Element(*k),
                Piece::Index(lengths) => {
                    let at = lengths.iter().map(|n| own.take().unwrap_or_else(|| self.index(*n)));
                    Step::Index(at.collect())
                }
            });
        }
        Place { root: slot.root.clone(), by_reference: slot.by_reference, path }
    }

    fn index(&mut self, length: usize) -> At {
        let fits: Vec<String> =
            self.loops.iter().filter(|(_, count)| *count <= length).map(|(v, _)| v.clone()).collect();
        let all: Vec<String> = self.loops.iter().map(|(v, _)| v.clone()).collect();
        match (self.dice.below(8), self.dice.pick(&fits).cloned(), self.dice.pick(&all).cloned()) {
            (0..=3, Some(v), _) => At::Var(v),
            (4, Some(v), _) => At::Mirrored(v, length),
            (5, _, Some(v)) => At::Shifted(v, 1 + self.dice.below(2), length),
            _ => At::Number(self.dice.below(length)),
        }
    }

    fn is_free(&self, slot: &Slot) -> bool {
        !self.frozen.contains(&slot.behind)
    }

    fn may(&self, slot: &Slot, write: bool, add: bool) -> bool {
        let only = self.only.as_ref().is_none_or(|only| *only == slot.root);
        match &slot.permission {
            Permission::Write | Permission::Own(_) if write => self.is_free(slot) && only,
            Permission::Add if write => add && self.is_free(slot) && only,
            Permission::Write | Permission::Own(_) | Permission::Read => !write,
            Permission::Add | Permission::Hidden => false,
        }
    }

    fn pick(&mut self, write: bool, add: bool, holds: impl Fn(&Holds) -> bool) -> Option<Slot> {
        let target = self.target.clone();
        let apart = |s: &&Slot| {
            target.as_ref().is_none_or(|t| {
                s.root != t.root || !(begins(&s.pieces, &t.pieces) || begins(&t.pieces, &s.pieces))
            })
        };
        let fits = |s: &&Slot| self.may(s, write, add) && holds(&s.holds);
        let fits: Vec<Slot> = self.slots.iter().filter(fits).filter(apart).cloned().collect();
        // what was declared last is used most
        match self.dice.chance(40) {
            true => fits.iter().rev().nth(self.dice.below(fits.len().min(4))).cloned(),
            false => self.dice.pick(&fits).cloned(),
        }
    }

    fn read(&mut self, holds: impl Fn(&Holds) -> bool) -> Option<Place> {
        let slot = self.pick(false, false, holds)?;
        Some(self.place(&slot))
    }
}

fn b_int(n: Int) -> Box<Int> {
    Box::new(n)
}

/// Whether a path begins with another one.
fn begins(path: &[Piece], with: &[Piece]) -> bool {
    path.len() >= with.len() && path[..with.len()] == *with
}

/// What is owned or shared together, and the length of its first axis, if that comes first.
fn group(slot: &Slot) -> (String, Option<usize>) {
    let mut name = slot.root.clone();
    for piece in &slot.pieces {
        match piece {
            Piece::Field(field) => {
                name = format!("{name}.{field}");
                // one level only: what lies deeper belongs together
                if let Some(Piece::Index(lengths)) = slot.pieces.get(1) {
                    return (name, lengths.first().copied());
                }
                return (name, None);
            }
            Piece::Element(_) => {}
            Piece::Index(lengths) => return (name, lengths.first().copied()),
        }
    }
    (name, None)
}
