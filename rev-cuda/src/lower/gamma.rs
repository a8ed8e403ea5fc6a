//! `ln |Γ|` and the polygamma functions in `f64`, step by step as
//! [`rev_core::scalar::rt::ln_gamma`] and [`rev_core::scalar::rt::polygamma`] compute them; sources and
//! accuracy are given there.

use std::f64::consts::PI;

use rev_core::ir::ScalarType;
use rev_core::ops::Func;
use rev_core::scalar::gamma::{BERNOULLI, EULER, LN_GAMMA_SERIES};

use crate::kernel::{Inst, Op, Relation, Ty};

use super::atom::Atom;
use super::{Lower, Outcome};

const F64: ScalarType = ScalarType::F64;

fn f64(v: f64) -> Atom {
    Atom::Const(v.to_bits(), Ty::F64)
}

impl Lower<'_> {
    fn f(&mut self, op: Op, args: &[&Atom]) -> Outcome<Atom> {
        let args: Vec<Atom> = args.iter().map(|a| (*a).clone()).collect();
        self.op(op, Ty::F64, &args)
    }

    fn expanded(&mut self, func: Func, x: &Atom) -> Outcome<Atom> {
        self.expand(func, F64, &[x])
    }

    /// Assigns a value where a condition holds, and another elsewhere, each computed only there.
    fn either(
        &mut self,
        cond: &Atom,
        to: &Atom,
        then: &mut dyn FnMut(&mut Self) -> Outcome<Atom>,
        otherwise: &mut dyn FnMut(&mut Self) -> Outcome<Atom>,
    ) -> Outcome<()> {
        self.builder()?.begin();
        let done = then(self).and_then(|value| self.assign(to, &value));
        let then = self.builder()?.end();
        done?;
        self.builder()?.begin();
        let done = otherwise(self).and_then(|value| self.assign(to, &value));
        let otherwise = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(cond);
        self.builder()?.emit(Inst::If { cond, then, otherwise });
        Ok(())
    }

    /// `while relation(x, limit) { body }`
    fn while_compared(
        &mut self,
        relation: Relation,
        x: &Atom,
        limit: &Atom,
        body: &mut dyn FnMut(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        self.builder()?.begin();
        let cond = self.compare(relation, x, limit);
        let before = self.builder()?.end();
        self.builder()?.begin();
        let done = body(self);
        let body = self.builder()?.end();
        done?;
        let cond = self.builder()?.operand(&cond?);
        self.builder()?.emit(Inst::Loop { before, cond, body });
        Ok(())
    }

    /// `x - round(x)`, and where there is a pole or no number.
    fn beside_pole(&mut self, x: &Atom) -> Outcome<(Atom, Atom, Atom)> {
        let nearest = self.nearest(F64, x)?;
        let r = self.f(Op::Sub, &[x, &nearest])?;
        let pole = self.compare(Relation::Eq, &r, &f64(0.0))?;
        let endless = self.compare(Relation::Eq, x, &f64(f64::NEG_INFINITY))?;
        let none = self.op(Op::Or, Ty::Pred, &[pole, endless.clone()])?;
        Ok((r, none, endless))
    }

    /// `ln |Γ(x)|`
    pub fn ln_gamma(&mut self, x: &Atom) -> Outcome<Atom> {
        let x = self.builder()?.freeze(x);
        let left = self.compare(Relation::Le, &x, &f64(0.0))?;
        let mirrored = self.f(Op::Sub, &[&f64(1.0), &x])?;
        let y = self.choose(&left, &mirrored, &x)?;
        let small = self.compare(Relation::Lt, &y, &f64(0.5))?;
        let next = self.f(Op::Add, &[&f64(1.0), &y])?;
        let z = self.choose(&small, &next, &y)?;
        let value = self.variable(&f64(0.0), "ln_gamma")?;
        let near = self.compare(Relation::Lt, &z, &f64(12.0))?;
        self.either(&near, &value, &mut |l| l.ln_gamma_near(&z), &mut |l| l.ln_gamma_far(&z))?;
        let value = self.builder()?.freeze(&value);
        let log = self.expanded(Func::Ln, &y)?;
        let less = self.f(Op::Sub, &[&value, &log])?;
        let value = self.choose(&small, &less, &value)?;
        let result = self.variable(&value, "ln_gamma")?;
        self.either(
            &left,
            &result,
            &mut |l| {
                let (r, none, _) = l.beside_pole(&x)?;
                let angle = l.f(Op::Mul, &[&f64(PI), &r])?;
                let sin = l.expanded(Func::Sin, &angle)?;
                let sin = l.f(Op::Abs, &[&sin])?;
                let ratio = l.f(Op::Div, &[&f64(PI), &sin])?;
                let log = l.expanded(Func::Ln, &ratio)?;
                let reflected = l.f(Op::Sub, &[&log, &value])?;
                l.choose(&none, &f64(f64::INFINITY), &reflected)
            },
            &mut |_| Ok(value.clone()),
        )?;
        self.builder().map(|b| b.freeze(&result))
    }

    /// From 1/2 to 12.
    fn ln_gamma_near(&mut self, z: &Atom) -> Outcome<Atom> {
        let value = self.variable(&f64(0.0), "near")?;
        let first = self.compare(Relation::Lt, z, &f64(1.5))?;
        self.either(
            &first,
            &value,
            &mut |l| {
                let t = l.f(Op::Sub, &[z, &f64(1.0)])?;
                let series = l.ln_gamma_near_2(&t)?;
                let log = l.expanded(Func::Log1p, &t)?;
                l.f(Op::Sub, &[&series, &log])
            },
            &mut |l| {
                let (x, product) = (l.variable(z, "x")?, l.variable(&f64(1.0), "product")?);
                l.while_compared(Relation::Gt, &x, &f64(2.5), &mut |l| {
                    let less = l.f(Op::Sub, &[&x, &f64(1.0)])?;
                    l.assign(&x, &less)?;
                    let more = l.f(Op::Mul, &[&product, &x])?;
                    l.assign(&product, &more)
                })?;
                let t = l.f(Op::Sub, &[&x, &f64(2.0)])?;
                let series = l.ln_gamma_near_2(&t)?;
                let log = l.expanded(Func::Ln, &product)?;
                l.f(Op::Add, &[&series, &log])
            },
        )?;
        self.builder().map(|b| b.freeze(&value))
    }

    /// `ln Γ(2 + z)` by its Taylor series.
    fn ln_gamma_near_2(&mut self, z: &Atom) -> Outcome<Atom> {
        let mut sum = f64(0.0);
        for c in LN_GAMMA_SERIES.iter().rev() {
            let product = self.f(Op::Mul, &[z, &sum])?;
            sum = self.f(Op::Sub, &[&f64(*c), &product])?;
        }
        let rest = self.f(Op::Mul, &[z, &sum])?;
        let whole = self.f(Op::Add, &[&f64(1.0 - EULER), &rest])?;
        self.f(Op::Mul, &[z, &whole])
    }

    /// Stirling's formula, from 12 on.
    fn ln_gamma_far(&mut self, x: &Atom) -> Outcome<Atom> {
        let square = self.f(Op::Mul, &[x, x])?;
        let y = self.f(Op::Div, &[&f64(1.0), &square])?;
        let mut sum = f64(0.0);
        for (j, b) in BERNOULLI.iter().enumerate().rev() {
            let n = 2.0 * (j + 1) as f64;
            let product = self.f(Op::Mul, &[&sum, &y])?;
            sum = self.f(Op::Add, &[&product, &f64(b / (n * (n - 1.0)))])?;
        }
        let rest = self.f(Op::Div, &[&sum, x])?;
        let a = self.f(Op::Sub, &[x, &f64(0.5)])?;
        let log = self.expanded(Func::Ln, x)?;
        let b = self.f(Op::Sub, &[&log, &f64(1.0)])?;
        let mut value = self.f(Op::Mul, &[&a, &b])?;
        value = self.f(Op::Sub, &[&value, &f64(0.5)])?;
        value = self.f(Op::Add, &[&value, &f64(0.918_938_533_204_672_8)])?;
        value = self.f(Op::Add, &[&value, &rest])?;
        let endless = self.compare(Relation::Eq, x, &f64(f64::INFINITY))?;
        self.choose(&endless, x, &value)
    }

    /// The `k`-th derivative of the digamma function.
    pub fn polygamma(&mut self, k: i128, x: &Atom) -> Outcome<Atom> {
        let Ok(k) = u32::try_from(k) else { return Ok(f64(f64::NAN)) };
        let x = self.builder()?.freeze(x);
        let left = self.compare(Relation::Le, &x, &f64(0.0))?;
        let mirrored = self.f(Op::Sub, &[&f64(1.0), &x])?;
        let y = self.choose(&left, &mirrored, &x)?;
        let value = if k == 0 { self.digamma(&y)? } else { self.polygamma_size(k, &y)? };
        let value =
            if k > 0 && k.is_multiple_of(2) { self.f(Op::Mul, &[&f64(-1.0), &value])? } else { value };
        let result = self.variable(&value, "polygamma")?;
        self.either(&left, &result, &mut |l| l.mirrored(k, &x, &value), &mut |_| Ok(value.clone()))?;
        self.builder().map(|b| b.freeze(&result))
    }

    fn digamma(&mut self, x: &Atom) -> Outcome<Atom> {
        let (x, shift) = (self.variable(x, "x")?, self.variable(&f64(0.0), "shift")?);
        self.while_compared(Relation::Lt, &x, &f64(12.0), &mut |l| {
            let step = l.f(Op::Div, &[&f64(1.0), &x])?;
            let next = l.f(Op::Add, &[&shift, &step])?;
            l.assign(&shift, &next)?;
            let next = l.f(Op::Add, &[&x, &f64(1.0)])?;
            l.assign(&x, &next)
        })?;
        let square = self.f(Op::Mul, &[&x, &x])?;
        let y = self.f(Op::Div, &[&f64(1.0), &square])?;
        let mut sum = f64(0.0);
        for (j, b) in BERNOULLI.iter().enumerate().rev() {
            sum = self.f(Op::Add, &[&sum, &f64(b / (2.0 * (j + 1) as f64))])?;
            sum = self.f(Op::Mul, &[&sum, &y])?;
        }
        let log = self.expanded(Func::Ln, &x)?;
        let half = self.f(Op::Div, &[&f64(0.5), &x])?;
        let value = self.f(Op::Sub, &[&log, &half])?;
        let value = self.f(Op::Sub, &[&value, &sum])?;
        self.f(Op::Sub, &[&value, &shift])
    }

    /// `k!/xᵏ⁺¹`
    fn factorial_over_power(&mut self, k: u32, x: &Atom) -> Outcome<Atom> {
        let mut power = self.f(Op::Div, &[&f64(1.0), x])?;
        for i in 1..=k {
            let factor = self.f(Op::Div, &[&f64(i.into()), x])?;
            power = self.f(Op::Mul, &[&power, &factor])?;
        }
        Ok(power)
    }

    /// `|ψ⁽ᵏ⁾(x)|` for positive `x` and `k`.
    fn polygamma_size(&mut self, k: u32, x: &Atom) -> Outcome<Atom> {
        let order = f64::from(k);
        let (x, sum) = (self.variable(x, "x")?, self.variable(&f64(0.0), "sum")?);
        self.while_compared(Relation::Lt, &x, &f64(12.0 + order), &mut |l| {
            let term = l.factorial_over_power(k, &x)?;
            let next = l.f(Op::Add, &[&sum, &term])?;
            l.assign(&sum, &next)?;
            let next = l.f(Op::Add, &[&x, &f64(1.0)])?;
            l.assign(&x, &next)
        })?;
        let square = self.f(Op::Mul, &[&x, &x])?;
        let y = self.f(Op::Div, &[&f64(1.0), &square])?;
        let mut factor = self.f(Op::Mul, &[&f64(order * (order + 1.0) / 2.0), &y])?;
        let twice = self.f(Op::Mul, &[&f64(2.0), &x])?;
        let part = self.f(Op::Div, &[&f64(order), &twice])?;
        let mut series = self.f(Op::Add, &[&f64(1.0), &part])?;
        for (j, b) in BERNOULLI.iter().enumerate() {
            let term = self.f(Op::Mul, &[&f64(*b), &factor])?;
            series = self.f(Op::Add, &[&series, &term])?;
            let n = 2.0 * (j + 1) as f64;
            let ratio = f64((n + order) / (n + 1.0) * ((n + order + 1.0) / (n + 2.0)));
            let ratio = self.f(Op::Mul, &[&ratio, &y])?;
            factor = self.f(Op::Mul, &[&factor, &ratio])?;
        }
        let power = self.factorial_over_power(k, &x)?;
        let ratio = self.f(Op::Div, &[&x, &f64(order)])?;
        let tail = self.f(Op::Mul, &[&power, &ratio])?;
        let tail = self.f(Op::Mul, &[&tail, &series])?;
        let value = self.f(Op::Add, &[&sum, &tail])?;
        let endless = self.compare(Relation::Eq, &x, &f64(f64::INFINITY))?;
        self.choose(&endless, &f64(0.0), &value)
    }

    /// The reflection formula, with what it is at `1 - x`.
    fn mirrored(&mut self, k: u32, x: &Atom, other: &Atom) -> Outcome<Atom> {
        let (r, none, endless) = self.beside_pole(x)?;
        let mut p = vec![0.0, 1.0];
        for _ in 0..k {
            let derivative: Vec<f64> = p.iter().enumerate().skip(1).map(|(i, c)| i as f64 * c).collect();
            p = vec![0.0; derivative.len() + 2];
            for (i, c) in derivative.iter().enumerate() {
                p[i] -= c;
                p[i + 2] -= c;
            }
        }
        let angle = self.f(Op::Mul, &[&f64(PI), &r])?;
        let tan = self.expanded(Func::Tan, &angle)?;
        let cot = self.f(Op::Div, &[&f64(1.0), &tan])?;
        let mut value = f64(0.0);
        for c in p.iter().rev() {
            value = self.f(Op::Mul, &[&value, &cot])?;
            value = self.f(Op::Add, &[&value, &f64(*c)])?;
        }
        let sign = if k.is_multiple_of(2) { 1.0 } else { -1.0 };
        let other = self.f(Op::Mul, &[&f64(sign), other])?;
        let value = self.f(Op::Mul, &[&f64(PI.powi(k as i32 + 1)), &value])?;
        let value = self.f(Op::Sub, &[&other, &value])?;
        let end = if k % 2 == 1 { f64(f64::INFINITY) } else { f64(f64::NAN) };
        let end = self.choose(&endless, &f64(f64::NAN), &end)?;
        self.choose(&none, &end, &value)
    }
}
