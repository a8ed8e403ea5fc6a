//! Complex numbers as pairs of real ones, by the formulas of [`rev_core::scalar`]'s complex numbers
//! in the same order of operations. Where those branch, both sides are computed and one is taken.

use rev_core::ir::{Number, ScalarType};
use rev_core::ops::Func;

use crate::kernel::{Op, Relation, Ty};

use super::atom::Atom;
use super::{Lower, Outcome};

/// Real and imaginary part.
pub(super) type Pair = (Atom, Atom);

/// Arithmetic on complex numbers over one real scalar.
pub(super) struct Complex<'l, 'm> {
    pub lower: &'l mut Lower<'m>,
    pub real: ScalarType,
}

impl Complex<'_, '_> {
    fn int(&self, n: i128) -> Outcome<Atom> {
        self.lower.int(self.real, n)
    }
    fn add(&mut self, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.lower.plus(self.real, a, b)
    }
    fn sub(&mut self, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.lower.minus(self.real, a, b)
    }
    fn mul(&mut self, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.lower.times(self.real, a, b)
    }
    fn div(&mut self, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.lower.over(self.real, a, b)
    }
    fn neg(&mut self, a: &Atom) -> Outcome<Atom> {
        self.lower.negated(self.real, a)
    }
    fn choose(&mut self, c: &Atom, a: &Atom, b: &Atom) -> Outcome<Atom> {
        self.lower.choose(c, a, b)
    }
    fn func(&mut self, func: Func, args: &[&Atom]) -> Outcome<Atom> {
        self.lower.expand(func, self.real, args)
    }

    /// `a + b`
    pub fn plus(&mut self, a: &Pair, b: &Pair) -> Outcome<Pair> {
        Ok((self.add(&a.0, &b.0)?, self.add(&a.1, &b.1)?))
    }

    /// `a - b`
    pub fn minus(&mut self, a: &Pair, b: &Pair) -> Outcome<Pair> {
        Ok((self.sub(&a.0, &b.0)?, self.sub(&a.1, &b.1)?))
    }

    /// `a · b`
    pub fn times(&mut self, a: &Pair, b: &Pair) -> Outcome<Pair> {
        let (rr, ii) = (self.mul(&a.0, &b.0)?, self.mul(&a.1, &b.1)?);
        let (ri, ir) = (self.mul(&a.0, &b.1)?, self.mul(&a.1, &b.0)?);
        Ok((self.sub(&rr, &ii)?, self.add(&ri, &ir)?))
    }

    /// `-a`
    pub fn negated(&mut self, a: &Pair) -> Outcome<Pair> {
        Ok((self.neg(&a.0)?, self.neg(&a.1)?))
    }

    /// `a · b + c`
    pub fn fused(&mut self, a: &Pair, b: &Pair, c: &Pair) -> Outcome<Pair> {
        let real = self.real;
        let inner = self.lower.fused(real, &a.0, &b.0, &c.0)?;
        let opposite = self.neg(&a.1)?;
        let re = self.lower.fused(real, &opposite, &b.1, &inner)?;
        let inner = self.lower.fused(real, &a.0, &b.1, &c.1)?;
        Ok((re, self.lower.fused(real, &a.1, &b.0, &inner)?))
    }

    /// `c - a · b` of exact numbers.
    pub fn fused_from(&mut self, a: &Pair, b: &Pair, c: &Pair) -> Outcome<Pair> {
        let real = self.real;
        let inner = self.lower.fused_from(real, &a.0, &b.0, &c.0)?;
        let opposite = self.neg(&a.1)?;
        let re = self.lower.fused_from(real, &opposite, &b.1, &inner)?;
        let inner = self.lower.fused_from(real, &a.0, &b.1, &c.1)?;
        Ok((re, self.lower.fused_from(real, &a.1, &b.0, &inner)?))
    }

    /// `a / b` by Smith's formula. With `p` and `q` the parts of `a` that go with the larger and the
    /// smaller part of `b`, only the imaginary part's sign depends on which is which.
    pub fn over(&mut self, a: &Pair, b: &Pair) -> Outcome<Pair> {
        let real = self.real;
        let (x, y) = (self.lower.absolute(real, &b.0)?, self.lower.absolute(real, &b.1)?);
        let first = self.lower.compare(Relation::Ge, &x, &y)?;
        let large = self.choose(&first, &b.0, &b.1)?;
        let small = self.choose(&first, &b.1, &b.0)?;
        let (p, q) = (self.choose(&first, &a.0, &a.1)?, self.choose(&first, &a.1, &a.0)?);
        let r = self.div(&small, &large)?;
        let product = self.mul(&small, &r)?;
        let d = self.add(&large, &product)?;
        let (pr, qr) = (self.mul(&p, &r)?, self.mul(&q, &r)?);
        let re = self.add(&p, &qr)?;
        let (one, other) = (self.sub(&q, &pr)?, self.sub(&pr, &q)?);
        let im = self.choose(&first, &one, &other)?;
        Ok((self.div(&re, &d)?, self.div(&im, &d)?))
    }

    /// `1 / a`
    pub fn recip(&mut self, a: &Pair) -> Outcome<Pair> {
        let one = (self.int(1)?, self.int(0)?);
        self.over(&one, a)
    }

    /// `|a|`
    pub fn norm(&mut self, a: &Pair) -> Outcome<Atom> {
        self.func(Func::Hypot, &[&a.0, &a.1])
    }

    /// The angle.
    pub fn arg(&mut self, a: &Pair) -> Outcome<Atom> {
        self.func(Func::Atan2, &[&a.1, &a.0])
    }

    /// `|a|²`
    pub fn abs2(&mut self, a: &Pair) -> Outcome<Atom> {
        let (x, y) = (self.mul(&a.0, &a.0)?, self.mul(&a.1, &a.1)?);
        self.add(&x, &y)
    }

    /// `a/|a|`, 0 at 0.
    pub fn unit(&mut self, a: &Pair) -> Outcome<Pair> {
        let r = self.norm(a)?;
        let value = (self.div(&a.0, &r)?, self.div(&a.1, &r)?);
        self.zero_where_zero(&r, value)
    }

    /// `i a/|a|²`, 0 at 0.
    pub fn arg_gradient(&mut self, a: &Pair) -> Outcome<Pair> {
        let r = self.norm(a)?;
        let opposite = self.neg(&a.1)?;
        let (x, y) = (self.div(&opposite, &r)?, self.div(&a.0, &r)?);
        let value = (self.div(&x, &r)?, self.div(&y, &r)?);
        self.zero_where_zero(&r, value)
    }

    fn zero_where_zero(&mut self, r: &Atom, value: Pair) -> Outcome<Pair> {
        let zero = self.int(0)?;
        let still = self.lower.compare(Relation::Eq, r, &zero)?;
        Ok((self.choose(&still, &zero, &value.0)?, self.choose(&still, &zero, &value.1)?))
    }

    fn half(&mut self, a: &Atom) -> Outcome<Atom> {
        let half = self.lower.number(self.real, Number::Float(0.5))?;
        self.mul(a, &half)
    }

    fn is_zero(&mut self, a: &Pair) -> Outcome<Atom> {
        let zero = self.int(0)?;
        let re = self.lower.compare(Relation::Eq, &a.0, &zero)?;
        let im = self.lower.compare(Relation::Eq, &a.1, &zero)?;
        self.lower.op(Op::And, Ty::Pred, &[re, im])
    }

    /// Whether two numbers are equal.
    pub fn equal(&mut self, a: &Pair, b: &Pair) -> Outcome<Atom> {
        let re = self.lower.compare(Relation::Eq, &a.0, &b.0)?;
        let im = self.lower.compare(Relation::Eq, &a.1, &b.1)?;
        self.lower.op(Op::And, Ty::Pred, &[re, im])
    }

    fn sqrt(&mut self, a: &Pair) -> Outcome<Pair> {
        let real = self.real;
        let (x, r) = (self.lower.absolute(real, &a.0)?, self.norm(a)?);
        let sum = self.add(&x, &r)?;
        let sum = self.half(&sum)?;
        let t = self.lower.root(real, &sum)?;
        let y = self.lower.absolute(real, &a.1)?;
        let s = self.div(&y, &t)?;
        let s = self.half(&s)?;
        let zero = self.int(0)?;
        let right = self.lower.compare(Relation::Ge, &a.0, &zero)?;
        let (re, im) = (self.choose(&right, &t, &s)?, self.choose(&right, &s, &t)?);
        let im = self.lower.copy_sign(real, &im, &a.1)?;
        let still = self.is_zero(a)?;
        Ok((self.choose(&still, &a.0, &re)?, self.choose(&still, &a.1, &im)?))
    }

    fn tan(&mut self, z: &Pair) -> Outcome<Pair> {
        let real = self.real;
        let (a, b) = (self.add(&z.0, &z.0)?, self.add(&z.1, &z.1)?);
        let (zero, one) = (self.int(0)?, self.int(1)?);
        let size = self.lower.absolute(real, &b)?;
        let limit = self.lower.number(real, Number::Float(80.0))?;
        let far = self.lower.compare(Relation::Gt, &size, &limit)?;
        let side = self.lower.copy_sign(real, &one, &b)?;
        let (cos, cosh) = (self.func(Func::Cos, &[&a])?, self.func(Func::Cosh, &[&b])?);
        let d = self.add(&cos, &cosh)?;
        let (sin, sinh) = (self.func(Func::Sin, &[&a])?, self.func(Func::Sinh, &[&b])?);
        let (re, im) = (self.div(&sin, &d)?, self.div(&sinh, &d)?);
        Ok((self.choose(&far, &zero, &re)?, self.choose(&far, &side, &im)?))
    }

    /// `(f(a.0) g(a.1), h(a.0) k(a.1))`
    fn products(&mut self, a: &Pair, [f, g, h, k]: [Func; 4]) -> Outcome<Pair> {
        let (f, g) = (self.func(f, &[&a.0])?, self.func(g, &[&a.1])?);
        let re = self.mul(&f, &g)?;
        let (h, k) = (self.func(h, &[&a.0])?, self.func(k, &[&a.1])?);
        Ok((re, self.mul(&h, &k)?))
    }

    /// A function of one complex number with a complex value; `None` for those that are elsewhere.
    pub fn function(&mut self, func: Func, a: &Pair) -> Outcome<Option<Pair>> {
        use Func::{Cos, Cosh, Sin, Sinh};
        Ok(Some(match func {
            Func::Neg => self.negated(a)?,
            Func::Recip => self.recip(a)?,
            Func::Conj => (a.0.clone(), self.neg(&a.1)?),
            Func::Unit => self.unit(a)?,
            Func::Abs => (self.norm(a)?, self.int(0)?),
            Func::ArgGradient => self.arg_gradient(a)?,
            Func::Sqrt => self.sqrt(a)?,
            Func::Exp => {
                let r = self.func(Func::Exp, &[&a.0])?;
                let (cos, sin) = (self.func(Cos, &[&a.1])?, self.func(Sin, &[&a.1])?);
                (self.mul(&r, &cos)?, self.mul(&r, &sin)?)
            }
            Func::Ln => {
                let r = self.norm(a)?;
                (self.func(Func::Ln, &[&r])?, self.arg(a)?)
            }
            Func::Sin => self.products(a, [Sin, Cosh, Cos, Sinh])?,
            Func::Cos => {
                let (re, im) = self.products(a, [Cos, Cosh, Sin, Sinh])?;
                (re, self.neg(&im)?)
            }
            Func::Tan => self.tan(a)?,
            Func::Sinh => self.products(a, [Sinh, Cos, Cosh, Sin])?,
            Func::Cosh => self.products(a, [Cosh, Cos, Sinh, Sin])?,
            Func::Tanh => {
                let turned = (self.neg(&a.1)?, a.0.clone());
                let t = self.tan(&turned)?;
                (t.1.clone(), self.neg(&t.0)?)
            }
            _ => return Ok(None),
        }))
    }
}
