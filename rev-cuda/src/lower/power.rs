//! Integer powers.

use rev_core::ir::ScalarType;

use crate::kernel::{Inst, Op, Relation, Ty};

use super::atom::Atom;
use super::complex::Complex;
use super::value::Num;
use super::{Lower, Outcome};

impl Lower<'_> {
    fn one(&self, like: &Num) -> Outcome<Num> {
        let one = self.int(like.real, 1)?;
        Ok(if like.complex {
            Num::complex(like.real, one, self.int(like.real, 0)?)
        } else {
            Num::real(like.real, one)
        })
    }

    fn reciprocal(&mut self, a: &Num) -> Outcome<Num> {
        if a.complex {
            let pair = (a.parts[0].clone(), a.parts[1].clone());
            let (re, im) = Complex { lower: self, real: a.real }.recip(&pair)?;
            return Ok(Num::complex(a.real, re, im));
        }
        let one = self.int(a.real, 1)?;
        Ok(Num::real(a.real, self.over(a.real, &one, &a.parts[0])?))
    }

    /// `xⁿ`: of floats by [`rev_core::math`], else by repeated squaring, the reciprocal of that for a
    /// negative power.
    pub fn powi(&mut self, x: &Num, n: &Atom) -> Outcome<Num> {
        if !x.complex && x.real.is_float() {
            return Ok(Num::real(x.real, self.float_powi(x.real, &x.parts[0], n)?));
        }
        let Some(n) = n.integer() else { return self.powi_by_loop(x, n) };
        let mut rest = n.unsigned_abs();
        let mut square = x.clone();
        let mut product = self.one(x)?;
        let mut first = true;
        while rest > 0 {
            if rest & 1 == 1 {
                // 1 · x is x for real numbers
                product = if first && !x.complex { square.clone() } else { self.product(&product, &square)? };
                first = false;
            }
            rest >>= 1;
            if rest > 0 {
                square = self.product(&square, &square)?;
            }
        }
        if n < 0 {
            self.reciprocal(&product)
        } else {
            Ok(product)
        }
    }

    fn powi_by_loop(&mut self, x: &Num, n: &Atom) -> Outcome<Num> {
        let zero = Atom::Const(0, Ty::I32);
        let negative = self.compare(Relation::Lt, n, &zero)?;
        let opposite = self.op(Op::Sub, Ty::I32, &[zero, n.clone()])?;
        let magnitude = self.choose(&negative, &opposite, n)?;
        let magnitude = self.op(Op::Bits, Ty::U32, &[magnitude])?;
        let rest = self.variable(&magnitude, "power")?;
        let one = self.one(x)?;
        let square = self.variables(x, "square")?;
        let product = self.variables(&one, "product")?;
        self.builder()?.begin();
        let cond = self.compare(Relation::Ne, &rest, &Atom::Const(0, Ty::U32));
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = self.powi_step(&rest, &square, &product);
        let body = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&cond?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        let inverse = self.reciprocal(&product)?;
        let parts = inverse.parts.iter().zip(&product.parts);
        let parts = parts.map(|(i, p)| self.choose(&negative, i, p)).collect::<Outcome<_>>()?;
        Ok(Num { parts, ..x.clone() })
    }

    /// One bit of the power. The square after the last bit isn't used.
    fn powi_step(&mut self, rest: &Atom, square: &Num, product: &Num) -> Outcome<()> {
        let one = Atom::Const(1, Ty::U32);
        let bit = self.op(Op::And, Ty::U32, &[rest.clone(), one.clone()])?;
        let odd = self.compare(Relation::Ne, &bit, &Atom::Const(0, Ty::U32))?;
        let next = self.product(product, square)?;
        for (to, value) in product.parts.iter().zip(&next.parts) {
            let value = self.choose(&odd, value, to)?;
            self.assign(to, &value)?;
        }
        let next = self.product(square, square)?;
        for (to, value) in square.parts.iter().zip(&next.parts) {
            self.assign(to, value)?;
        }
        let half = self.op(Op::Shr, Ty::U32, &[rest.clone(), one])?;
        self.assign(rest, &half)
    }

    fn variables(&mut self, first: &Num, name: &str) -> Outcome<Num> {
        let parts = first.parts.iter().map(|p| self.variable(p, name)).collect::<Outcome<_>>()?;
        Ok(Num { parts, ..first.clone() })
    }

    /// `n (n-1) … (n-k+1) xⁿ⁻ᵏ`, 0 where that product is 0.
    pub fn powi_derivative(&mut self, x: &Num, n: &Atom, k: &Atom) -> Outcome<Num> {
        let Some(k) = k.integer() else {
            return Err(self.unsupported("`powi_derivative` of an order that isn't a constant"));
        };
        let wide = self.op(Op::Convert, Ty::I64, std::slice::from_ref(n))?;
        let mut c = self.one(x)?;
        let mut none = Atom::bool(false);
        for j in 0..k {
            let j = Atom::Const(j as u64, Ty::I64);
            let factor = self.op(Op::Sub, Ty::I64, &[wide.clone(), j.clone()])?;
            let factor = self.converted(&factor, ScalarType::I64, x.real)?;
            let factor = if x.complex {
                Num::complex(x.real, factor, self.int(x.real, 0)?)
            } else {
                Num::real(x.real, factor)
            };
            c = self.product(&c, &factor)?;
            let hit = self.compare(Relation::Eq, &wide, &j)?;
            none = self.op(Op::Or, Ty::Pred, &[none, hit])?;
        }
        let less = self.op(Op::Sub, Ty::I32, &[n.clone(), Atom::Const(k as u64 & 0xffff_ffff, Ty::I32)])?;
        let power = self.powi(x, &less)?;
        let value = self.product(&c, &power)?;
        let zero = self.int(x.real, 0)?;
        let parts = value.parts.iter().map(|p| self.choose(&none, &zero, p)).collect::<Outcome<_>>()?;
        Ok(Num { parts, ..x.clone() })
    }
}
