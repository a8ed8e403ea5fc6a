//! The manual's section on comparison and selection instructions, and `testp`.

use super::lanes::{for_types, lanes, test, Float};
use super::{Decoder, Form};
use crate::emulator::code::{Alu, Condition, Logic, Mode, Op, Pred, Test};
use crate::emulator::syntax::{Operand, Type};
use crate::emulator::SyntaxError;

/// A comparison with what it is combined with.
struct Comparison {
    f: Test,
    flush: bool,
    logic: Option<Logic>,
    ty: Type,
    result: Option<Type>,
}

impl Decoder<'_> {
    /// `setp.cmp{.bool}{.ftz}.type p{|q}, a, b{, {!}c}`
    pub(super) fn setp(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let c = self.comparison(form, false)?;
        let (to, a, b, with) = self.compared(form, &c)?;
        let (p, q): (Pred, Option<Pred>) = match to {
            Operand::Pair(p, q) => (self.to_pred(p)?, Some(self.to_pred(q)?)),
            p => (self.to_pred(p)?, None),
        };
        Ok(Op::Set { f: c.f, flush: c.flush, with, p, q, a: self.from(a, c.ty)?, b: self.from(b, c.ty)? })
    }

    /// `set.cmp{.bool}{.ftz}.dtype.type d, a, b{, {!}c}`
    pub(super) fn set(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let c = self.comparison(form, true)?;
        let (to, a, b, with) = self.compared(form, &c)?;
        let result = c.result.unwrap_or(Type::U32);
        let yes = match result {
            Type::U32 | Type::S32 => 0xffff_ffff,
            Type::F32 => 1f32.to_bits().into(),
            other => return Err(self.error(format!("`set` gives `.u32`, `.s32` or `.f32`, not `{other}`"))),
        };
        let d = self.to(to, result)?;
        Ok(Op::SetValue {
            f: c.f,
            flush: c.flush,
            with,
            yes,
            d,
            a: self.from(a, c.ty)?,
            b: self.from(b, c.ty)?,
        })
    }

    fn comparison(&mut self, form: &mut Form<'_>, typed: bool) -> Result<Comparison, SyntaxError> {
        let Some((relation, rest)) = form.mods.split_first() else {
            return Err(self.error(format!("`{}` needs a comparison", form.name)));
        };
        form.mods = rest;
        let logic = form.one_of(&["and", "or", "xor"]).map(|l| match l {
            "and" => Logic::And,
            "or" => Logic::Or,
            _ => Logic::Xor,
        });
        let flush = form.accept("ftz");
        let result = if typed { Some(self.ty(form)?) } else { None };
        let ty = self.ty(form)?;
        if flush && ty != Type::F32 {
            return Err(self.error("`.ftz` exists only for `.f32`"));
        }
        let f = relation_test(relation, ty)
            .ok_or_else(|| self.error(format!("`{}.{relation}` doesn't exist for `{ty}`", form.name)))?;
        self.no_more(form)?;
        Ok(Comparison { f, flush, logic, ty, result })
    }

    #[allow(clippy::type_complexity)]
    fn compared<'o>(
        &self,
        form: &Form<'o>,
        c: &Comparison,
    ) -> Result<(&'o Operand, &'o Operand, &'o Operand, Option<(Logic, Condition)>), SyntaxError> {
        match (form.operands, c.logic) {
            ([to, a, b], None) => Ok((to, a, b, None)),
            ([to, a, b, p], Some(logic)) => Ok((to, a, b, Some((logic, self.condition(p)?)))),
            _ => Err(self.error(format!(
                "`{}` takes {} operands here",
                form.name,
                if c.logic.is_some() { 4 } else { 3 }
            ))),
        }
    }

    pub(super) fn selp(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let ty = self.ty(form)?;
        if ty.bits < 16 {
            return Err(self.no_type(form, ty));
        }
        let [d, a, b, p] = self.operands(form)?;
        let (a, b) = (self.from(a, ty)?, self.from(b, ty)?);
        Ok(Op::Select { d: self.to(d, ty)?, a, b, p: self.condition(p)? })
    }

    /// `slct{.ftz}.dtype.ctype d, a, b, c`: `a` where `c ≥ 0`, else (also for NaN) `b`.
    pub(super) fn slct(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let flush = form.accept("ftz");
        let (ty, by) = (self.ty(form)?, self.ty(form)?);
        let f: Alu = match by {
            Type::S32 if !flush => lanes!(u64, |a, b, c| if c as i32 >= 0 { a } else { b }),
            Type::F32 if flush => lanes!(u64, |a, b, c| {
                let c = f32::from_bits(c as u32);
                if c >= 0.0 || c.is_subnormal() {
                    a
                } else {
                    b
                }
            }),
            Type::F32 => lanes!(u64, |a, b, c| if f32::from_bits(c as u32) >= 0.0 { a } else { b }),
            _ => return Err(self.error("`slct` compares `.s32` or `.f32`, and flushes only `.f32`")),
        };
        if ty.bits < 16 {
            return Err(self.no_type(form, ty));
        }
        self.alu(form, &[ty, ty, by], ty, Some(f), Mode::Plain)
    }

    /// `testp.op.type p, a`
    pub(super) fn testp(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let Some((op, rest)) = form.mods.split_first() else {
            return Err(self.error("`testp` needs what to test"));
        };
        form.mods = rest;
        let ty = self.ty(form)?;
        let f = match op.as_str() {
            "finite" => for_types!(ty, T in [f32 f64], test!(T, |a, _| a.is_finite())),
            "infinite" => for_types!(ty, T in [f32 f64], test!(T, |a, _| a.is_infinite())),
            "number" => for_types!(ty, T in [f32 f64], test!(T, |a, _| !a.is_nan())),
            "notanumber" => for_types!(ty, T in [f32 f64], test!(T, |a, _| a.is_nan())),
            // The manual counts zeros as normal.
            "normal" => for_types!(ty, T in [f32 f64], test!(T, |a, _| a.is_normal() || a == 0.0)),
            "subnormal" => for_types!(ty, T in [f32 f64], test!(T, |a, _| a.is_subnormal())),
            _ => None,
        };
        let f = f.ok_or_else(|| self.error(format!("`testp.{op}` doesn't exist for `{ty}`")))?;
        let [p, a] = self.operands(form)?;
        let a = self.from(a, ty)?;
        Ok(Op::Set { f, flush: false, with: None, p: self.to_pred(p)?, q: None, a, b: a })
    }
}

/// The manual's tables of comparison operators: `eq` and `ne` for bits; `lo`, `ls`, `hi`, `hs` for
/// unsigned integers besides the usual six; for floats the six (false on NaN), their unordered forms
/// (true on NaN), `num` and `nan`.
fn relation_test(relation: &str, ty: Type) -> Option<Test> {
    if ty.bits < 16 {
        return None;
    }
    let unsigned = !ty.is_signed() && !ty.is_float();
    let relation = match relation {
        "lo" if unsigned => "lt",
        "ls" if unsigned => "le",
        "hi" if unsigned => "gt",
        "hs" if unsigned => "ge",
        other => other,
    };
    if ty.is_bits() && !matches!(relation, "eq" | "ne") {
        return None;
    }
    let ty = if ty.is_bits() { ty.unsigned() } else { ty };
    match relation {
        "eq" => for_types!(ty, T in [u16 u32 u64 i16 i32 i64 f32 f64], test!(T, |a, b| a == b)),
        "lt" => for_types!(ty, T in [u16 u32 u64 i16 i32 i64 f32 f64], test!(T, |a, b| a < b)),
        "le" => for_types!(ty, T in [u16 u32 u64 i16 i32 i64 f32 f64], test!(T, |a, b| a <= b)),
        "gt" => for_types!(ty, T in [u16 u32 u64 i16 i32 i64 f32 f64], test!(T, |a, b| a > b)),
        "ge" => for_types!(ty, T in [u16 u32 u64 i16 i32 i64 f32 f64], test!(T, |a, b| a >= b)),
        "ne" if !ty.is_float() => for_types!(ty, T in [u16 u32 u64 i16 i32 i64], test!(T, |a, b| a != b)),
        "ne" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a != b && !a.unordered(b))),
        "equ" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a == b || a.unordered(b))),
        "neu" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a != b)),
        "ltu" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a < b || a.unordered(b))),
        "leu" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a <= b || a.unordered(b))),
        "gtu" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a > b || a.unordered(b))),
        "geu" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a >= b || a.unordered(b))),
        "num" => for_types!(ty, T in [f32 f64], test!(T, |a, b| !a.unordered(b))),
        "nan" => for_types!(ty, T in [f32 f64], test!(T, |a, b| a.unordered(b))),
        _ => None,
    }
}
