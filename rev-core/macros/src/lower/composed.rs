//! Functions that are composed of functions of the table.

use rev_compiler::ir::{Class, Expr, ExprKind, Number, Place, Type, VarId};
use rev_compiler::ops::Func;

use super::path::part_of_number;
use super::Lowerer;

/// What makes an expression of as many arguments as there are.
type Compose = fn(&mut Names, Vec<Expr>) -> Option<Expr>;

/// A function by its name: its number of arguments, and what it is of them.
pub(super) fn composed(name: &str) -> Option<(usize, Compose)> {
    let found: (usize, Compose) = match name {
        "sin_cos" => (1, |names, x| {
            let [x] = names.each(x)?;
            Some(Expr::new(ExprKind::Tuple(vec![of(Func::Sin, [&x]), of(Func::Cos, [&x])])))
        }),
        "signum" => (1, |_, x| Some(of(Func::CopySign, [&Expr::int(1), x.first()?]))),
        "fract" => (1, |names, x| {
            let [x] = names.each(x)?;
            Some(of(Func::Sub, [&x, &of(Func::Trunc, [&x])]))
        }),
        "clamp" => (3, |_, x| {
            let [x, low, high] = x.try_into().ok()?;
            Some(of(Func::Min, [&of(Func::Max, [&x, &low]), &high]))
        }),
        "scale" => (2, |names, x| names.parts(Func::Mul, x)),
        "unscale" => (2, |names, x| names.parts(Func::Div, x)),
        "powc" => (2, |names, x| {
            let [z, w] = names.each(x)?;
            let log = of(Func::Ln, [&z]);
            Some(is(&z, 0).choose(power_of_zero(&z, &w), of(Func::Exp, [&of(Func::Mul, [&w, &log])])))
        }),
        _ => return None,
    };
    Some(found)
}

/// `zʷ` at z = 0, with its derivative: that of `z` for w = 1, infinite between.
fn power_of_zero(z: &Expr, w: &Expr) -> Expr {
    let size = part(Func::Re, w);
    let small = of(Func::Gt, [&size, &Expr::int(0)]);
    let large = of(Func::Gt, [&size, &Expr::int(1)]);
    let elsewhere = is(w, 0).choose(Expr::int(1), of(Func::Recip, [z]));
    let rest = small.choose(of(Func::Sqrt, [z]), elsewhere);
    is(w, 1).choose(z.clone(), large.choose(of(Func::Mul, [&Expr::int(0), z]), rest))
}

fn of<const N: usize>(func: Func, args: [&Expr; N]) -> Expr {
    Expr::func(func, args.into_iter().cloned().collect())
}

fn is(e: &Expr, n: i128) -> Expr {
    of(Func::Eq, [e, &Expr::int(n)])
}

/// The real or imaginary part, also of a literal.
fn part(func: Func, z: &Expr) -> Expr {
    let of_literal = match z.kind {
        ExprKind::Literal(n, None) => part_of_number(func, n),
        _ => None,
    };
    of_literal.map_or_else(|| of(func, [z]), |n: Number| Expr::new(ExprKind::Literal(n, None)))
}

/// Names for arguments that are used more than once.
pub(super) struct Names<'l> {
    lowerer: &'l mut Lowerer,
    lets: Vec<(VarId, Expr)>,
}

impl Names<'_> {
    /// The arguments, each of which is computed once.
    fn each<const N: usize>(&mut self, values: Vec<Expr>) -> Option<[Expr; N]> {
        let mut named = |value: Expr| match value.kind {
            ExprKind::Literal(..) | ExprKind::Named(_) => value,
            ExprKind::Read(ref place) if place.path.is_empty() => value,
            _ => {
                let (ty, span) = (self.lowerer.type_of(&value), value.span);
                let var = self.lowerer.temporary(ty, span);
                self.lets.push((var, value));
                Expr::read(Place::var(var)).at(span)
            }
        };
        values.into_iter().map(&mut named).collect::<Vec<_>>().try_into().ok()
    }

    /// An operation with a real number on both parts of a complex one.
    fn parts(&mut self, func: Func, arguments: Vec<Expr>) -> Option<Expr> {
        let [z, r] = self.each(arguments)?;
        let one = |which| of(func, [&part(which, &z), &r]);
        Some(of(Func::Complex, [&one(Func::Re), &one(Func::Im)]))
    }
}

impl Lowerer {
    /// What a function is of these arguments; `None` if there isn't a value.
    pub(super) fn compose(&mut self, value: Compose, args: Vec<Expr>) -> Option<Expr> {
        let mut names = Names { lowerer: self, lets: Vec::new() };
        let result = value(&mut names, args)?;
        let lets = names.lets;
        Some(if lets.is_empty() { result } else { Expr::new(ExprKind::Block(lets, Box::new(result))) })
    }

    /// `z * x`, `x * z` and `z / x` for a complex number and a real one.
    pub(super) fn mixed(&mut self, func: Func, left: &Expr, right: &Expr) -> Option<Expr> {
        if !self.has_complex {
            return None;
        }
        let of_complex = |ty: &Type| matches!(ty, Type::Complex(_));
        let (a, b) = (self.type_of_number(left), self.type_of_number(right));
        let real = |ty: &Type| ty.class(&self.function.generics) == Some(Class::Real);
        let (z, x) = match func {
            _ if of_complex(&a) && real(&b) => (left, right),
            Func::Mul if real(&a) && of_complex(&b) => (right, left),
            _ => return None,
        };
        let (_, scaled) = composed(if func == Func::Mul { "scale" } else { "unscale" })?;
        self.compose(scaled, vec![z.clone(), x.clone()])
    }

    /// The type of a number: in arithmetic that of the first part that has one, which is found without looking at all of it.
    fn type_of_number(&self, e: &Expr) -> Type {
        match &e.kind {
            ExprKind::Literal(_, None) => Type::Unknown,
            ExprKind::Func(Func::Add | Func::Sub | Func::Mul | Func::Div | Func::Neg, parts) => {
                let types = parts.iter().map(|part| self.type_of_number(part));
                types.into_iter().find(|ty| *ty != Type::Unknown).unwrap_or(Type::Unknown)
            }
            _ => self.type_of(e),
        }
    }
}
