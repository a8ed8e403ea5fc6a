//! The random tree of a seed.
//!
//! What a program may do where follows from a list of places in scope, each with what may be done with it. A block's ancillas are
//! computed from what the rest of the block leaves alone, so every program can be taken back.

use super::tree::*;
use super::{Form, Theme};
use crate::Dice;

/// What a place holds.
#[derive(Clone, Debug, PartialEq)]
enum Holds {
    Real,
    Int,
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
    m.helper();
    m.main();
    m.form.functions.append(&mut m.helpers);
    let main = m.form.functions.remove(0);
    m.form.functions.push(main);
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
        match self.dice.below(7) {
            0..=2 => Type::Real,
            3 => Type::Of("i64"),
            4 => Type::Fixed(2),
            5 => Type::Option(Box::new([Type::Real, Type::Of("i64")][self.dice.below(2)].clone())),
            _ => Type::Declared("Mode".into()),
        }
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
            Type::Of(name) => of(Holds::Of(name)),
            Type::Fixed(n) => self.know(with(Piece::Index(vec![*n])), &Type::Real),
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
        let mut params = vec![param("y", Type::Real, true)];
        match self.form.theme {
            Theme::Matches | Theme::Checkpoints => params.push(param("e", declared("Kind"), false)),
            Theme::Structs => {
                params.push(param("r", declared("Part"), true));
                params.push(param("t", declared("Part"), false));
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
        self.helpers.push(Function { name: "helper".into(), params, body });
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
                params.push(param("o", Type::Option(Box::new(Type::Real)), false));
                params.push(param("os", slice(Type::Option(Box::new(Type::Real))), false));
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
        self.form.functions.push(Function { name: "program".into(), params, body });
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

    // ---- expressions ----

    fn value(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.leaf();
        }
        let b = |e| Box::new(e);
        match self.dice.below(17) {
            0..=3 => self.leaf(),
            4 | 5 => Expr::Binary('*', b(self.value(depth - 1)), b(self.value(depth - 1))),
            6 => Expr::Binary('+', b(self.value(depth - 1)), b(self.value(depth - 1))),
            7 => Expr::Binary('-', b(self.value(depth - 1)), b(self.value(depth - 1))),
            8 => Expr::Binary('*', b(Expr::Number(self.decimal())), b(self.value(depth - 1))),
            9 | 10 => Expr::Function(["sin", "cos", "tanh"][self.dice.below(3)], b(self.value(depth - 1))),
            11 => Expr::Neg(b(self.value(depth - 1))),
            12 => self.int(1).map_or_else(|| self.leaf(), |n| Expr::OfInt(Int::Rem(b_int(n), 5))),
            13 => match self.cond() {
                Some(c) => Expr::If(Box::new(c), b(self.value(depth - 1)), b(self.value(depth - 1))),
                None => self.leaf(),
            },
            14 | 15 => self.choice(depth),
            _ => {
                let (name, value) = (self.name("v"), self.value(depth - 1));
                let slot = self.own(&name, Holds::Real);
                let e = self.with(vec![slot], |m| m.value(depth - 1));
                Expr::Block(name, b(value), b(e))
            }
        }
    }

    /// A number of the function's own that is read.
    fn own(&self, name: &str, holds: Holds) -> Slot {
        let root = name.to_owned();
        let behind = root.clone();
        Slot { root, by_reference: false, pieces: Vec::new(), holds, permission: Permission::Read, behind }
    }

    fn with<R>(&mut self, slots: Vec<Slot>, make: impl FnOnce(&mut Self) -> R) -> R {
        let count = self.slots.len();
        self.slots.extend(slots);
        let out = make(self);
        self.slots.truncate(count);
        out
    }

    fn decimal(&mut self) -> f64 {
        self.dice.decimal(0.1, 0.9)
    }

    fn leaf(&mut self) -> Expr {
        if self.dice.chance(12) {
            return match self.dice.below(4) {
                0 => Expr::Constant("zero"),
                1 => Expr::Constant("one"),
                _ => {
                    Expr::Binary('*', Box::new(Expr::Number(self.decimal())), Box::new(Expr::Constant("one")))
                }
            };
        }
        match self.read(|h| *h == Holds::Real) {
            Some(p) => Expr::Read(p),
            None => Expr::Constant("one"),
        }
    }

    /// A number that stays small, however large what it is made of gets.
    fn small(&mut self, depth: usize) -> Expr {
        let e = self.value(depth);
        let f = ["sin", "cos", "tanh"][self.dice.below(3)];
        let tame = Expr::Function(f, Box::new(e));
        Expr::Binary('*', Box::new(Expr::Number(self.decimal())), Box::new(tame))
    }

    /// `match` and `if let` with values.
    fn choice(&mut self, depth: usize) -> Expr {
        let Some(slot) = self.scrutinee() else { return self.leaf() };
        let place = self.place(&slot);
        if self.dice.chance(35) {
            if let Some((pat, names)) = self.refutable(&slot) {
                let then = self.with(names, |m| m.value(depth - 1));
                let otherwise = self.value(depth - 1);
                return Expr::IfLet(pat, place, Box::new(then), Box::new(otherwise));
            }
        }
        let arms = self.arms(&slot, |m| m.value(depth - 1));
        Expr::Match(place, arms)
    }

    fn scrutinee(&mut self) -> Option<Slot> {
        let form = &self.form;
        let enums: Vec<String> =
            form.types.iter().filter(|d| matches!(d.of, Parts::Enum(_))).map(|d| d.name.clone()).collect();
        self.pick(false, false, |h| match h {
            Holds::Int | Holds::Option(_) => true,
            Holds::Declared(name) => enums.contains(name),
            _ => false,
        })
    }

    /// Arms for every case, each with a guard or without.
    fn arms<R>(&mut self, slot: &Slot, mut make: impl FnMut(&mut Self) -> R) -> Vec<(Pat, Option<Cond>, R)> {
        let mut heads = Vec::new();
        for _ in 0..1 + self.dice.below(3) {
            let Some((pat, names)) = self.refutable(slot) else { break };
            let asks = self.dice.chance(25);
            let guard = self.with(names.clone(), |m| if asks { m.cond() } else { None });
            heads.push((pat, guard, names));
        }
        let rest = match &slot.holds {
            Holds::Int if self.dice.chance(50) => {
                let name = self.name("k");
                let own = self.own(&name, Holds::Int);
                (Pat::Name(name), vec![own])
            }
            _ => (Pat::Wild, Vec::new()),
        };
        // all variants instead
        let each = match &slot.holds {
            Holds::Declared(name) if self.dice.chance(60) => self.every_variant(&name.clone()),
            Holds::Option(of) if self.dice.chance(60) => {
                let (name, of) = (self.name("v"), of.clone());
                let own = self.own(&name, if of == Type::Real { Holds::Real } else { Holds::Int });
                vec![
                    (Pat::Tuple("None".into(), Vec::new()), Vec::new()),
                    (Pat::Tuple("Some".into(), vec![Pat::Name(name)]), vec![own]),
                ]
            }
            _ => vec![rest],
        };
        heads.extend(each.into_iter().map(|(pat, names)| (pat, None, names)));
        // guards are asked again on the way back
        let asked = heads.iter().flat_map(|(_, guard, _)| guard).flat_map(super::roots_of_cond).collect();
        self.freezing(asked, |m| {
            let arm = |(pat, guard, names)| (pat, guard, m.with(names, &mut make));
            heads.into_iter().map(arm).collect()
        })
    }

    fn every_variant(&mut self, of: &str) -> Vec<(Pat, Vec<Slot>)> {
        let Some(Parts::Enum(variants)) = self.form.declared(of).map(|d| d.of.clone()) else {
            return Vec::new();
        };
        let mut order = self.dice.permutation(variants.len());
        let mut out = Vec::new();
        while let Some(k) = order.pop() {
            out.push(self.variant(of, &variants[k], false));
        }
        out
    }

    /// A pattern that doesn't take every value, with what it names.
    fn refutable(&mut self, slot: &Slot) -> Option<(Pat, Vec<Slot>)> {
        Some(match &slot.holds {
            Holds::Int => self.number(true),
            Holds::Option(of) => self.option(&of.clone(), true),
            Holds::Declared(name) => {
                let Some(Parts::Enum(variants)) = self.form.declared(name).map(|d| d.of.clone()) else {
                    return None;
                };
                let k = self.dice.below(variants.len());
                if self.dice.chance(20) && name == "Mode" {
                    let other = (k + 1) % variants.len();
                    let path = |k: usize| Pat::Tuple(format!("Mode::{}", variants[k].0), Vec::new());
                    return Some((Pat::Or(vec![path(k), path(other)]), Vec::new()));
                }
                self.variant(&name.clone(), &variants[k], true)
            }
            _ => return None,
        })
    }

    fn number(&mut self, named: bool) -> (Pat, Vec<Slot>) {
        let from = self.dice.below(6) as i64 - 2;
        let pat = match self.dice.below(5) {
            0 | 1 => Pat::Number(from),
            2 => Pat::Range(from, from + 2),
            3 => match self.dice.chance(50) {
                true => Pat::Open(None, Some(from - 1)),
                false => Pat::Open(Some(from + 2), None),
            },
            _ => Pat::Or(vec![Pat::Number(from), Pat::Range(from + 2, from + 4)]),
        };
        if named && self.dice.chance(40) {
            let name = self.name("k");
            let own = self.own(&name, Holds::Int);
            return (Pat::At(name, Box::new(pat)), vec![own]);
        }
        (pat, Vec::new())
    }

    fn option(&mut self, of: &Type, refutable: bool) -> (Pat, Vec<Slot>) {
        let some = |p| Pat::Tuple("Some".into(), vec![p]);
        match of {
            _ if self.dice.chance(20) && refutable => (Pat::Tuple("None".into(), Vec::new()), Vec::new()),
            Type::Real => {
                let name = self.name("v");
                let own = self.own(&name, Holds::Real);
                (some(Pat::Name(name)), vec![own])
            }
            _ if self.dice.chance(50) => {
                let (pat, names) = self.number(true);
                (some(pat), names)
            }
            _ => {
                let name = self.name("k");
                let own = self.own(&name, Holds::Int);
                (some(Pat::Name(name)), vec![own])
            }
        }
    }

    /// A variant with names for its fields, or patterns that ask for something.
    fn variant(
        &mut self,
        of: &str,
        (variant, fields): &(String, Vec<(String, Type)>),
        asking: bool,
    ) -> (Pat, Vec<Slot>) {
        let path = format!("{of}::{variant}");
        let named = fields.first().is_some_and(|(name, _)| name.parse::<usize>().is_err());
        let (mut pats, mut names) = (Vec::new(), Vec::new());
        for (field, ty) in fields {
            let asks = asking && self.dice.chance(40);
            if self.dice.chance(15) {
                pats.push((field.clone(), Pat::Wild));
                continue;
            }
            let (pat, mut own) = match ty {
                Type::Of(_) if asks => self.number(true),
                Type::Option(of) if asks => self.option(of, true),
                Type::Declared(name) if asks => {
                    let slot = self.own("", Holds::Declared(name.clone()));
                    self.refutable(&slot).unwrap_or((Pat::Wild, Vec::new()))
                }
                ty => {
                    let name = self.name("v");
                    let count = self.slots.len();
                    let slot = self.own(&name, Holds::Real);
                    self.know(slot, ty);
                    let own = self.slots.split_off(count);
                    (Pat::Name(name), own)
                }
            };
            names.append(&mut own);
            pats.push((field.clone(), pat));
        }
        let pat = match named {
            true => {
                let rest = !pats.is_empty() && self.dice.chance(30);
                if rest {
                    // what isn't mentioned is asked for nothing
                    let wild: Vec<_> =
                        pats.iter().filter(|(_, p)| !matches!(p, Pat::Wild)).cloned().collect();
                    pats = wild;
                }
                Pat::Fields(path, pats, rest)
            }
            false => Pat::Tuple(path, pats.into_iter().map(|(_, p)| p).collect()),
        };
        (pat, names)
    }

    fn int(&mut self, depth: usize) -> Option<Int> {
        match self.dice.below(6) {
            0..=2 => self.read(|h| *h == Holds::Int).map(Int::Read),
            3 if !self.loops.is_empty() => {
                let (var, _) = self.loops[self.dice.below(self.loops.len())].clone();
                Some(Int::Var(var))
            }
            4 if depth > 0 => {
                let (a, b) = (self.int(depth - 1)?, self.int(depth - 1)?);
                Some(Int::Binary(['+', '-', '^'][self.dice.below(3)], Box::new(a), Box::new(b)))
            }
            5 if depth > 0 => {
                let slot = self.scrutinee()?;
                let place = self.place(&slot);
                let arms = self.arms(&slot, |m| {
                    let read = m.read(|h| *h == Holds::Int).filter(|_| m.dice.chance(60));
                    read.map_or(Int::Number(m.dice.below(5) as i64), Int::Read)
                });
                Some(Int::Match(place, arms))
            }
            _ => self.read(|h| *h == Holds::Int).map(|p| Int::Rem(Box::new(Int::Read(p)), 3)),
        }
    }

    fn cond(&mut self) -> Option<Cond> {
        Some(match self.dice.below(6) {
            0..=2 => {
                let a = self.int(0)?;
                Cond::Ints(
                    a,
                    ["<", ">=", "==", "!="][self.dice.below(4)],
                    Int::Number(self.dice.below(4) as i64),
                )
            }
            3 => Cond::Not(Box::new(self.cond()?)),
            4 => {
                let (a, b) = (self.cond()?, self.cond()?);
                Cond::Both(Box::new(a), ["&&", "||"][self.dice.below(2)], Box::new(b))
            }
            _ => {
                // of what nothing changes, so that rounding doesn't decide it on the way back
                let fixed = |m: &Self, s: &Slot| m.is_constant(s);
                let all: Vec<Slot> =
                    self.slots.iter().filter(|s| s.holds == Holds::Real && fixed(self, s)).cloned().collect();
                let slot = self.dice.pick(&all)?.clone();
                Cond::Reals(Expr::Read(self.place(&slot)), "<", Expr::Number(self.decimal()))
            }
        })
    }

    /// Whether a place belongs to a parameter that the function only reads.
    fn is_constant(&self, slot: &Slot) -> bool {
        slot.permission == Permission::Read
            && ["x", "c", "e", "es", "o", "os", "q", "ts", "t"].contains(&&slot.root[..])
            && slot.behind == slot.root
            && self.slots.iter().all(|s| s.root != slot.root || s.permission == Permission::Read)
            && !self.parallel
    }

    // ---- statements ----

    fn block(&mut self, n: usize) -> Vec<Stmt> {
        let mut out = Vec::new();
        for _ in 0..n {
            if self.budget == 0 {
                break;
            }
            self.budget -= 1;
            out.extend((0..4).find_map(|_| self.stmt()));
        }
        if out.is_empty() {
            out.extend((0..6).find_map(|_| self.update()));
        }
        out
    }

    /// A block that may not run once.
    fn inner(&mut self, n: usize) -> Vec<Stmt> {
        let top = std::mem::replace(&mut self.top, false);
        let out = self.block(n);
        self.top = top;
        out
    }

    fn freezing<R>(&mut self, behind: Vec<String>, make: impl FnOnce(&mut Self) -> R) -> R {
        let count = self.frozen.len();
        self.frozen.extend(behind);
        let out = make(self);
        self.frozen.truncate(count);
        out
    }

    fn stmt(&mut self) -> Option<Stmt> {
        let preparing = self.only.is_some();
        let deep = self.loops.len() > 1;
        match self.dice.below(if preparing { 14 } else { 34 }) {
            0..=3 => self.update(),
            4 => self.int_update(),
            5..=7 => self.special(),
            8 | 9 => self.match_statement(),
            10 => self.if_let(),
            11 => self.branch(),
            12 | 13 if !deep => self.for_loop(),
            14 | 15 => self.special(),
            16 => self.moved(),
            17..=19 if !deep && !self.parallel => self.parallel_loop(),
            20 | 21 => self.binding(),
            22..=24 => self.ancilla(),
            25 => {
                let inverting = std::mem::replace(&mut self.inverting, true);
                let body = self.inner(2);
                self.inverting = inverting;
                Some(Stmt::Inverse(body))
            }
            26 | 27 => self.call(),
            28 | 29 => self.match_statement(),
            30 => self.if_let(),
            _ => self.special(),
        }
    }

    /// What the theme is about.
    fn special(&mut self) -> Option<Stmt> {
        match self.form.theme {
            Theme::Structs => self.of_structs(),
            Theme::Numbers => self.scale(),
            Theme::Matches if !self.form.generic && self.dice.chance(50) => self.convert(),
            Theme::Matches | Theme::Checkpoints => self.match_statement(),
        }
    }

    fn update(&mut self) -> Option<Stmt> {
        let slot = self.pick(true, true, |h| *h == Holds::Real)?;
        self.target = Some(slot.clone());
        let depth = 1 + self.dice.below(2);
        let e = match self.loops.is_empty() {
            true if self.dice.chance(40) => self.value(depth),
            _ => self.small(depth),
        };
        self.target = None;
        let place = self.place(&slot);
        Some(Stmt::Update(place, ['+', '-'][self.dice.below(2)], e))
    }

    fn int_update(&mut self) -> Option<Stmt> {
        let slot = self.pick(true, true, |h| *h == Holds::Int)?;
        self.target = Some(slot.clone());
        let n = self.int(1);
        self.target = None;
        let n = Int::Rem(Box::new(n?), 7);
        let op = if slot.permission == Permission::Add { '+' } else { ['+', '-', '^'][self.dice.below(3)] };
        Some(Stmt::IntUpdate(self.place(&slot), op, n))
    }

    /// An exchange, a sign.
    fn moved(&mut self) -> Option<Stmt> {
        let kind = self.dice.below(6);
        let enums = ["Kind", "Mode"];
        let enum_like = |h: &Holds| matches!(h, Holds::Declared(name) if enums.contains(&&name[..]));
        if kind == 0 {
            let slot = self.pick(true, false, |h| *h == Holds::Real)?;
            return Some(Stmt::Neg(self.place(&slot)));
        }
        if kind == 1 && self.top && !self.parallel {
            let stack = self.pick(true, false, |h| *h == Holds::Stack).filter(|s| s.root == "kept")?;
            let slot = self.pick(true, false, |h| matches!(h, Holds::Declared(name) if name == "Kind"))?;
            let zero = self.form.zero_variant("Kind");
            return Some(Stmt::Push(self.place(&stack), self.place(&slot), zero));
        }
        if kind == 5 && self.top && !self.parallel {
            let stack = self.pick(true, false, |h| *h == Holds::Stack).filter(|s| s.root == "pile")?;
            let array = self.pick(true, false, |h| *h == Holds::Real).filter(|s| s.root == "y")?;
            let array = Place { path: Vec::new(), ..self.place(&array) };
            return Some(Stmt::PushArray(self.place(&stack), array));
        }
        let a = match self.dice.chance(50) {
            true => self.pick(true, false, enum_like),
            false => self.pick(true, false, |h| *h == Holds::Real || *h == Holds::Int),
        }?;
        // two elements of one array, which are or aren't one
        if let (Some(Piece::Index(lengths)), Permission::Write) = (a.pieces.first(), &a.permission) {
            if a.pieces.len() == 1 && lengths.len() == 1 && self.dice.chance(60) {
                let (mut p, mut q) = (self.place(&a), self.place(&a));
                if p == q || self.dice.chance(50) {
                    let i = self.dice.below(lengths[0]);
                    p.path = vec![Step::Index(vec![At::Number(i)])];
                    q.path = vec![Step::Index(vec![At::Number((i + 1) % lengths[0])])];
                }
                return Some(Stmt::Swap(p, q));
            }
        }
        self.target = Some(a.clone());
        let b = self.pick(true, false, |h| *h == a.holds);
        self.target = None;
        let (a, b) = (self.place(&a), self.place(&b?));
        Some(Stmt::Swap(a, b))
    }

    fn match_statement(&mut self) -> Option<Stmt> {
        let slot = self.scrutinee()?;
        let place = self.place(&slot);
        let arms = self.freezing(vec![slot.behind.clone()], |m| m.arms(&slot, |m| m.inner_arm()));
        Some(Stmt::Match(place, arms))
    }

    fn inner_arm(&mut self) -> Vec<Stmt> {
        match self.dice.chance(15) {
            true => Vec::new(),
            false => {
                let n = 1 + self.dice.below(2);
                self.inner(n)
            }
        }
    }

    fn if_let(&mut self) -> Option<Stmt> {
        let slot = self.scrutinee()?;
        let place = self.place(&slot);
        let (pat, names) = self.refutable(&slot)?;
        let (a, b) = self.freezing(vec![slot.behind.clone()], |m| {
            let a = m.with(names, |m| m.inner(2));
            let b = if m.dice.chance(50) { m.inner(1) } else { Vec::new() };
            (a, b)
        });
        Some(Stmt::IfLet(pat, place, a, b))
    }

    /// A branch that changes what its condition reads, and a stack that keeps which way it went.
    fn keep(&mut self) -> Option<Stmt> {
        let ways = self.slots.iter().find(|s| s.root == "ways").cloned()?;
        if self.parallel || self.inverting || self.only.is_some() || !self.is_free(&ways) {
            return None;
        }
        // on fixed-point numbers, rounding would decide
        let asked = self.pick(false, false, |h| *h == Holds::Real).filter(|_| self.form.fixed.is_none());
        let c = match asked.filter(|_| self.dice.chance(60)) {
            Some(slot) => Cond::Reals(Expr::Read(self.place(&slot)), "<", Expr::Number(self.decimal())),
            None => self.cond()?,
        };
        let a = self.inner(2);
        let b = if self.dice.chance(50) { self.inner(1) } else { Vec::new() };
        Some(Stmt::Keep(self.place(&ways), c, a, b))
    }

    fn branch(&mut self) -> Option<Stmt> {
        if self.dice.chance(50) {
            if let Some(made) = self.keep() {
                return Some(made);
            }
        }
        let c = self.cond()?;
        let behind = super::roots_of_cond(&c);
        let (a, b) = self.freezing(behind, |m| {
            let a = m.inner(2);
            let b = if m.dice.chance(50) { m.inner(1) } else { Vec::new() };
            (a, b)
        });
        Some(Stmt::If(c, a, b))
    }

    /// An array of numbers, to be visited.
    fn visited(&mut self, length: Option<usize>) -> Option<(Slot, Slot)> {
        let slot = self.pick(false, false, |h| *h == Holds::Real)?;
        let [Piece::Index(lengths)] = &slot.pieces[..] else { return None };
        if lengths.len() != 1 || length.is_some_and(|n| lengths[0] != n) || slot.behind != slot.root {
            return None;
        }
        let name = self.name("x");
        let element = Slot { behind: slot.root.clone(), ..self.own(&name, Holds::Real) };
        Some((slot, element))
    }

    /// A loop over elements.
    fn each_loop(&mut self) -> Option<Stmt> {
        let (slot, own) = self.visited(None)?;
        let Some(Piece::Index(lengths)) = slot.pieces.first() else { return None };
        let (index, element, counted) = (self.name("i"), own.root.clone(), self.dice.chance(50));
        if counted {
            self.loops.push((index.clone(), lengths[0]));
        }
        let body = self.freezing(vec![slot.root.clone()], |m| m.with(vec![own], |m| m.inner(2)));
        if counted {
            self.loops.pop();
        }
        let of = Place { path: Vec::new(), ..self.place(&slot) };
        let order = [Order::Forward, Order::Reversed][self.dice.below(2)];
        Some(Stmt::Each { index, counted, element, of, order, body })
    }

    fn for_loop(&mut self) -> Option<Stmt> {
        if self.dice.chance(35) {
            return self.each_loop();
        }
        let (var, count) = (self.name("i"), [2, 3, self.form.long][self.dice.below(3)]);
        self.loops.push((var.clone(), count));
        let body = self.inner(2);
        self.loops.pop();
        Some(Stmt::For { var, count, parallel: false, body })
    }

    /// Iterations own elements, or add to what they share.
    fn parallel_loop(&mut self) -> Option<Stmt> {
        let (var, count) = (self.name("p"), self.form.long);
        let saved = self.slots.clone();
        let mut groups: Vec<(String, Permission)> = Vec::new();
        for k in 0..self.slots.len() {
            let slot = self.slots[k].clone();
            if slot.permission != Permission::Write {
                continue;
            }
            let (group, indexed) = group(&slot);
            let known = groups.iter().find(|(g, _)| *g == group).map(|(_, p)| p.clone());
            let permission = match known {
                Some(p) => p,
                None => {
                    let own = indexed == Some(count) && self.is_free(&slot);
                    let p = match self.dice.below(4) {
                        0..=2 if own => Permission::Own(var.clone()),
                        0 | 1 if self.is_free(&slot) && !own => Permission::Add,
                        _ => Permission::Read,
                    };
                    groups.push((group, p.clone()));
                    p
                }
            };
            // a struct as a whole is what its parts are
            let whole = matches!(slot.holds, Holds::Declared(_)) && indexed.is_none();
            let shared =
                matches!(slot.holds, Holds::Stack | Holds::Number(_) | Holds::Option(_) | Holds::Of(_));
            self.slots[k].permission = match permission {
                Permission::Add if whole || shared => Permission::Hidden,
                _ if whole && slot.pieces.is_empty() => Permission::Hidden,
                p => p,
            };
        }
        let over = if self.dice.chance(25) { self.visited(Some(count)) } else { None };
        let over = over.filter(|(slot, _)| slot.permission == Permission::Read);
        self.loops.push((var.clone(), count));
        self.parallel = true;
        let frozen = over.iter().map(|(slot, _)| slot.root.clone()).collect();
        let elements = over.iter().map(|(_, own)| own.clone()).collect();
        let body = self.freezing(frozen, |m| m.with(elements, |m| m.inner(3)));
        self.parallel = false;
        self.loops.pop();
        let made = match over {
            Some((slot, own)) => {
                let of = Place { path: Vec::new(), ..self.place(&slot) };
                let (order, element) = (Order::Parallel, own.root);
                Stmt::Each { index: var, counted: true, element, of, order, body }
            }
            None => Stmt::For { var, count, parallel: true, body },
        };
        self.slots = saved;
        Some(made)
    }

    fn binding(&mut self) -> Option<Stmt> {
        let (name, e) = (self.name("b"), self.value(2));
        let behind = super::roots_of_expr(&e);
        let behind = self.behind(behind);
        let own = self.own(&name, Holds::Real);
        let body = self.freezing(behind, |m| m.with(vec![own], |m| m.block(2)));
        Some(Stmt::Let(name, e, body))
    }

    /// The variables whose change would change what is named.
    fn behind(&self, roots: Vec<String>) -> Vec<String> {
        let of =
            |r: &String| self.slots.iter().find(|s| s.root == *r).map_or(r.clone(), |s| s.behind.clone());
        roots.iter().map(of).chain(roots.clone()).collect()
    }

    fn ancilla(&mut self) -> Option<Stmt> {
        let name = self.name("a");
        let (start, ty) = match (self.form.theme, self.dice.below(6)) {
            (Theme::Structs, 0..=3) => {
                let of = self.pick(false, false, |h| matches!(h, Holds::Declared(_)))?;
                let Holds::Declared(declared) = of.holds.clone() else { return None };
                if !self.is_summable(&declared) || self.is_writable_in_parallel(&of) {
                    return None;
                }
                let start = match declared == "Part" && self.dice.chance(50) {
                    true => Start::Made("Part".into(), self.literal()?),
                    false => Start::Like(self.place(&of), declared.clone()),
                };
                (start, Type::Declared(declared))
            }
            (Theme::Numbers, 0..=3) => {
                let system = [System::Log, System::MaxPlus, System::MinPlus][self.dice.below(3)];
                (Start::One(system), Type::Number(system))
            }
            (_, 0 | 4) => (Start::Array(3), Type::Fixed(3)),
            (_, 5) if !self.parallel => {
                (Start::Vector(self.form.long), Type::Slice(Box::new(Type::Real), self.form.long))
            }
            _ => (Start::Real([0.0, 0.5][self.dice.below(2)]), Type::Real),
        };
        let count = self.slots.len();
        let slot = Slot { permission: Permission::Write, ..self.own(&name, Holds::Real) };
        self.know(slot, &ty);
        let own = self.slots.split_off(count);
        let began = match &start {
            Start::Made(_, made) => super::roots_of_literal(made),
            Start::Like(p, _) => vec![p.root.clone()],
            _ => Vec::new(),
        };
        let only = self.only.replace(name.clone());
        // what is computed isn't read while it is
        let (outer, parallel) = (self.top, self.parallel);
        let mut prepare = self.with(own.clone(), |m| {
            let mut prepare = match (&start, m.dice.chance(70)) {
                (Start::Like(p, of), true) => {
                    let root = m.own(&name, Holds::Real);
                    let whole = Place { root: root.root, by_reference: false, path: Vec::new() };
                    vec![Stmt::Sum { place: whole, op: '+', other: p.clone(), of: of.clone() }]
                }
                _ => Vec::new(),
            };
            m.target = None;
            prepare.extend(m.inner(2));
            prepare
        });
        (self.top, self.parallel) = (outer, parallel);
        self.only = only;
        prepare.retain(|s| super::written(std::slice::from_ref(s)).iter().all(|w| *w == name));
        let mut behind = super::read(&prepare);
        behind.extend(began);
        behind.retain(|r| *r != name);
        let behind = self.behind(behind);
        let own = own.into_iter().map(|s| Slot { permission: Permission::Read, ..s }).collect();
        let body = self.freezing(behind, |m| m.with(own, |m| m.block(2)));
        Some(Stmt::Ancilla { name, start, compute: self.dice.chance(30), prepare, body })
    }

    /// In a parallel loop something that iterations write isn't copied as a whole.
    fn is_writable_in_parallel(&self, slot: &Slot) -> bool {
        self.parallel && !matches!(slot.permission, Permission::Read | Permission::Own(_))
    }

    fn call(&mut self) -> Option<Stmt> {
        let helper = self.helpers.first()?.clone();
        if self.only.is_some() {
            return None;
        }
        let mut args = Vec::new();
        let mut written: Vec<Slot> = Vec::new();
        for p in &helper.params {
            let holds = match &p.ty {
                Type::Declared(name) => Holds::Declared(name.clone()),
                Type::Number(system) => Holds::Number(*system),
                _ => Holds::Real,
            };
            if p.written {
                let slot = self.pick(true, false, |h| *h == holds)?;
                if written.iter().any(|w| w.root == slot.root) {
                    return None;
                }
                args.push(Arg::Write(self.place(&slot)));
                written.push(slot);
            } else if p.ty == Type::Real {
                let e = self.small(1);
                if super::roots_of_expr(&e).iter().any(|r| written.iter().any(|w| w.root == *r)) {
                    return None;
                }
                args.push(Arg::Value(e));
            } else if p.ty == Type::Declared("Part".into()) && self.dice.chance(40) {
                let made = self.literal()?;
                if super::roots_of_literal(&made).iter().any(|r| written.iter().any(|w| w.root == *r)) {
                    return None;
                }
                args.push(Arg::Made("Part".into(), made));
            } else {
                let slot = self.pick(false, false, |h| *h == holds)?;
                if written.iter().any(|w| w.root == slot.root) {
                    return None;
                }
                args.push(Arg::Read(self.place(&slot)));
            }
        }
        Some(Stmt::Call("helper".into(), self.dice.chance(40), args))
    }

    // ---- structs ----

    fn literal(&mut self) -> Option<Literal> {
        let Parts::Struct(fields) = self.form.declared("Part")?.of.clone() else { return None };
        let mut out = Vec::new();
        for (name, ty) in fields {
            let value = match ty {
                Type::Fixed(n) => FieldValue::Array((0..n).map(|_| self.small(0)).collect()),
                Type::Named => return None,
                Type::Pair => FieldValue::Pair(self.small(0), self.small(1)),
                Type::Of(_) => FieldValue::Int(Int::Number(self.dice.below(4) as i64)),
                _ => {
                    out.push(real(&name, self.small(1)));
                    continue;
                }
            };
            out.push((name, value));
        }
        Some(out)
    }

    fn of_structs(&mut self) -> Option<Stmt> {
        let structs = |h: &Holds| matches!(h, Holds::Declared(_));
        match self.dice.below(8) {
            0..=3 => {
                let slot = self.pick(true, true, structs)?;
                let Holds::Declared(of) = slot.holds.clone() else { return None };
                if !self.is_summable(&of) {
                    return None;
                }
                self.target = Some(slot.clone());
                let other = self.pick(false, false, |h| *h == slot.holds);
                self.target = None;
                let other = other?;
                if other.root == slot.root || self.is_writable_in_parallel(&other) {
                    return None;
                }
                let op = ['+', '-'][self.dice.below(2)];
                Some(Stmt::Sum { place: self.place(&slot), op, other: self.place(&other), of })
            }
            4 | 5 => {
                let slot = self.pick(true, true, |h| *h == Holds::Declared("Part".into()))?;
                // the macro doesn't know the type of a field
                let in_field = slot.pieces.iter().any(|piece| matches!(piece, Piece::Field(_)));
                let made = self.literal()?;
                if in_field || super::roots_of_literal(&made).contains(&slot.root) {
                    return None;
                }
                let op = ['+', '-'][self.dice.below(2)];
                Some(Stmt::SumMade { place: self.place(&slot), op, of: "Part".into(), made })
            }
            6 if self.only.is_none() => {
                let a = self.pick(true, false, structs)?;
                self.target = Some(a.clone());
                let b = self.pick(true, false, |h| *h == a.holds);
                self.target = None;
                let b = b?;
                if a.root == b.root {
                    return None;
                }
                Some(Stmt::Swap(self.place(&a), self.place(&b)))
            }
            _ if self.only.is_none() => {
                let (name, made) = (self.name("s"), self.literal()?);
                let behind = self.behind(super::roots_of_literal(&made));
                let count = self.slots.len();
                let slot = self.own(&name, Holds::Real);
                self.know(slot, &Type::Declared("Part".into()));
                let own = self.slots.split_off(count);
                let body = self.freezing(behind, |m| m.with(own, |m| m.block(2)));
                Some(Stmt::LetStruct(name, "Part".into(), made, body))
            }
            _ => None,
        }
    }

    // ---- number systems ----

    fn scale(&mut self) -> Option<Stmt> {
        let slot = self.pick(true, false, |h| matches!(h, Holds::Number(_)))?;
        let Holds::Number(system) = slot.holds else { return None };
        self.target = Some(slot.clone());
        let depth = 1 + self.dice.below(2);
        let by = self.num(system, depth);
        self.target = None;
        let op = ['*', '/'][self.dice.below(2)];
        Some(Stmt::Scale { place: self.place(&slot), op, system, by: by? })
    }

    /// A factor; with a number of the system in every operation, so that it is one of the system.
    fn num(&mut self, system: System, depth: usize) -> Option<Num> {
        let b = |n: Num| Box::new(n);
        let read = |m: &mut Self| m.read(|h| *h == Holds::Number(system)).map(Num::Read);
        if depth == 0 {
            return read(self);
        }
        let a = self.num(system, depth - 1)?;
        Some(match (system, self.dice.below(8)) {
            (_, 0 | 1) => a,
            (System::Odd, 2..=4) => Num::Binary(['*', '/'][self.dice.below(2)], b(a), b(read(self)?)),
            (System::Odd, 5 | 6) => Num::Binary('*', b(a), b(Num::Odd(1 + 2 * self.dice.below(20) as u32))),
            (System::Odd, _) => Num::Function("neg", b(a)),
            (_, 2 | 3) => Num::Binary(['*', '/'][self.dice.below(2)], b(a), b(read(self)?)),
            (_, 4) => Num::Binary('+', b(a), b(read(self)?)),
            (System::Log, 5) => {
                // 1 + something below it, so that it is positive
                let e = self.small(1);
                let e = Expr::Binary('+', Box::new(Expr::Number(1.25)), Box::new(e));
                Num::Binary(['*', '+'][self.dice.below(2)], b(a), b(Num::Of(e)))
            }
            (_, 5) => Num::Binary(['*', '+'][self.dice.below(2)], b(a), b(Num::Of(self.small(1)))),
            (_, 6) => Num::Powi(b(a), [2, 3, -1][self.dice.below(3)]),
            (System::Log, _) => match self.dice.chance(50) {
                true => Num::Function("sqrt", b(a)),
                false => Num::Powf(b(a), 0.75),
            },
            (_, _) => Num::Function("recip", b(a)),
        })
    }

    // ---- conversions ----

    fn convert(&mut self) -> Option<Stmt> {
        let is_known = self.slots.iter().any(|s| s.root == "w");
        if self.parallel || !self.top || self.only.is_some() || !is_known {
            return None;
        }
        let at = self.converted;
        let to = |root: &str| Place {
            root: root.into(),
            by_reference: true,
            path: vec![Step::Index(vec![At::Number(at)])],
        };
        let i = self.dice.below(self.form.long);
        let w = Place { path: vec![Step::Index(vec![At::Number(i)])], ..to("w") };
        let is_free = |m: &Self, root: &str| !m.frozen.iter().any(|f| f == root);
        let lost = || Place { root: "lost".into(), by_reference: true, path: Vec::new() };
        match self.dice.below(4) {
            0 if at < self.form.long && is_free(self, "w") && is_free(self, "d") => {
                self.converted += 1;
                Some(Stmt::Convert { from: w, to: to("d"), lost: None, types: ("f32", "f64") })
            }
            1 if at < self.form.long && is_free(self, "j") && is_free(self, "lost") => {
                self.converted += 1;
                let slot = self.pick(true, false, |h| *h == Holds::Real).filter(|s| s.root == "y")?;
                let from = self.place(&slot);
                Some(Stmt::Convert { from, to: to("j"), lost: Some(lost()), types: ("f64", "i64") })
            }
            _ if is_free(self, "w") => {
                // as another type for a while
                let name = self.name("a");
                let to = Place { root: name.clone(), by_reference: false, path: Vec::new() };
                let convert = Stmt::Convert { from: w, to, lost: None, types: ("f32", "f64") };
                let own = self.own(&name, Holds::Real);
                let body = self.freezing(vec!["w".into()], |m| m.with(vec![own], |m| m.block(2)));
                let body = vec![Stmt::Compute(vec![convert], body)];
                Some(Stmt::Ancilla {
                    name,
                    start: Start::Of("f64"),
                    compute: false,
                    prepare: Vec::new(),
                    body,
                })
            }
            _ => None,
        }
    }

    // ---- loops with #[checkpoint] ----

    /// Variables, a loop whose steps give them new values, and what is made of these.
    fn checkpointed(&mut self) -> Vec<Stmt> {
        let states = [
            ("u", Start::Real(0.0), Type::Real),
            ("w", Start::Real(0.5), Type::Real),
            ("f", Start::Array(3), Type::Fixed(3)),
            ("v", Start::Vector(self.form.long), Type::Slice(Box::new(Type::Real), self.form.long)),
            ("m", Start::Int(1), Type::Of("i64")),
        ];
        let chosen: Vec<_> =
            states.into_iter().filter(|(n, _, _)| *n == "u" || self.dice.chance(60)).collect();
        let before = self.slots.clone();
        for slot in &mut self.slots {
            if slot.permission == Permission::Write {
                slot.permission = Permission::Hidden;
            }
        }
        let own: Vec<Slot> = chosen
            .iter()
            .flat_map(|(name, _, ty)| {
                let count = self.slots.len();
                let slot = Slot { permission: Permission::Write, ..self.own(name, Holds::Real) };
                self.know(slot, ty);
                self.slots.split_off(count)
            })
            .collect();
        // what they begin with
        let mut inits: Vec<Vec<Stmt>> = Vec::new();
        for (name, ..) in &chosen {
            let mine: Vec<Slot> = own.iter().filter(|s| s.root == *name).cloned().collect();
            self.only = Some((*name).to_string());
            self.budget = 2;
            let made = self.with(mine, |m| (0..3).find_map(|_| m.update()));
            inits.push(made.into_iter().collect());
        }
        self.only = None;
        let var = "step".to_string();
        let count = [0, 1, 5, 12, 17][self.dice.below(5)];
        let every = [None, Some(1), Some(3), Some(4), Some(50)][self.dice.below(5)];
        self.loops.push((var.clone(), count.max(1)));
        let steps = self.with(own.clone(), |m| {
            let mut out = Vec::new();
            for _ in 0..3 + m.dice.below(3) {
                out.extend((0..4).find_map(|_| m.step()));
            }
            out
        });
        self.loops.pop();
        self.slots = before;
        let read = own.into_iter().map(|s| Slot { permission: Permission::Read, ..s }).collect();
        self.budget = 6;
        let rest = self.with(read, |m| m.block(4));
        let checkpoint = Stmt::Checkpoint { var, count, every, body: steps };
        let mut body = vec![checkpoint];
        body.extend(rest);
        let states =
            chosen.into_iter().zip(inits).map(|((name, start, _), begin)| (name.into(), start, begin));
        vec![Stmt::States(states.collect(), body)]
    }

    /// A statement of a step.
    fn step(&mut self) -> Option<Stmt> {
        let assign = |m: &mut Self, whole: bool| {
            let slot = m.pick(true, false, |h| *h == Holds::Real || *h == Holds::Int)?;
            if !whole && slot.pieces.is_empty() && m.dice.chance(30) {
                return None;
            }
            let place = m.place(&slot);
            Some(match slot.holds {
                Holds::Int => {
                    let n = m.int(1)?;
                    Stmt::AssignInt(place, Int::Rem(Box::new(n), 7))
                }
                _ => {
                    let e = m.small(2);
                    match m.dice.chance(50) {
                        true => {
                            let old = Expr::Binary(
                                '*',
                                Box::new(Expr::Number(m.decimal())),
                                Box::new(Expr::Read(place.clone())),
                            );
                            Stmt::Assign(place, Expr::Binary('+', Box::new(old), Box::new(e)))
                        }
                        false => Stmt::Assign(place, e),
                    }
                }
            })
        };
        match self.dice.below(8) {
            0..=3 => assign(self, true),
            4 => {
                let slot = self.scrutinee().filter(|s| s.permission == Permission::Read)?;
                let place = self.place(&slot);
                let arms = self.freezing(vec![slot.behind.clone()], |m| {
                    m.arms(&slot, |m| assign(m, false).into_iter().collect())
                });
                Some(Stmt::Match(place, arms))
            }
            5 => {
                let slot = self.scrutinee().filter(|s| s.permission == Permission::Read)?;
                let place = self.place(&slot);
                let (pat, names) = self.refutable(&slot)?;
                let (a, b) = self.freezing(vec![slot.behind.clone()], |m| {
                    let a = m.with(names, |m| assign(m, false).into_iter().collect());
                    (a, assign(m, false).into_iter().collect())
                });
                Some(Stmt::IfLet(pat, place, a, b))
            }
            6 => {
                let (var, count) = (self.name("i"), 3);
                self.loops.push((var.clone(), count));
                let body = assign(self, false).into_iter().collect();
                self.loops.pop();
                Some(Stmt::For { var, count, parallel: false, body })
            }
            _ => self.moved().filter(|s| matches!(s, Stmt::Swap(..) | Stmt::Neg(..))),
        }
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
