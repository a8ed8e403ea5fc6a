//! The manual's sections on integer arithmetic and on logic and shift instructions.

use super::lanes::{for_types, lanes};
use super::{Decoder, Form};
use crate::emulator::code::{Alu, Logic, Mode, Op};
use crate::emulator::syntax::{Class, Type};
use crate::emulator::SyntaxError;

/// `integers!(ty, |a, b, c| result)` for the types `T` of integer arithmetic.
macro_rules! integers {
    ($ty:expr, $T:ident, |$a:pat_param, $b:pat_param, $c:pat_param| $e:expr) => {
        for_types!($ty, $T in [u16 u32 u64 i16 i32 i64], lanes!($T, |$a, $b, $c| $e))
    };
}

/// The part of a product that is wanted.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Part {
    Low,
    High,
    Wide,
}

impl Decoder<'_> {
    pub(super) fn integer(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        match form.name {
            "mul" | "mad" => return self.product(form),
            "fma" => return Err(self.error("`fma` takes a float type")),
            _ => {}
        }
        let saturate = matches!(form.name, "add" | "sub") && form.accept("sat");
        let ty = self.ty(form)?;
        if saturate && ty != Type::S32 {
            return Err(self.error("`.sat` of integers exists only for `.s32`"));
        }
        if matches!(form.name, "neg" | "abs") && !ty.is_signed() {
            return Err(self.no_type(form, ty));
        }
        let binary = [ty, ty];
        let (f, types) = match form.name {
            "add" if saturate => (Some(lanes!(i32, |a, b, _| a.saturating_add(b))), &binary[..]),
            "sub" if saturate => (Some(lanes!(i32, |a, b, _| a.saturating_sub(b))), &binary[..]),
            "add" => (integers!(ty, T, |a, b, _| a.wrapping_add(b)), &binary[..]),
            "sub" => (integers!(ty, T, |a, b, _| a.wrapping_sub(b)), &binary[..]),
            // The manual leaves a quotient by zero unspecified: all ones, as known hardware gives.
            "div" => (integers!(ty, T, |a, b, _| if b == 0 { !0 } else { a.wrapping_div(b) }), &binary[..]),
            "rem" => (integers!(ty, T, |a, b, _| if b == 0 { !0 } else { a.wrapping_rem(b) }), &binary[..]),
            "min" => (integers!(ty, T, |a, b, _| a.min(b)), &binary[..]),
            "max" => (integers!(ty, T, |a, b, _| a.max(b)), &binary[..]),
            "neg" => {
                (for_types!(ty, T in [i16 i32 i64], lanes!(T, |a, _, _| a.wrapping_neg())), &binary[..1])
            }
            _ => (for_types!(ty, T in [i16 i32 i64], lanes!(T, |a, _, _| a.wrapping_abs())), &binary[..1]),
        };
        self.alu(form, types, ty, f, Mode::Plain)
    }

    fn product(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let part = match form.one_of(&["lo", "hi", "wide"]) {
            Some("lo") => Part::Low,
            Some("hi") => Part::High,
            Some(_) => Part::Wide,
            None => {
                return Err(self.error(format!("`{}` of integers needs `.lo`, `.hi` or `.wide`", form.name)))
            }
        };
        let ty = self.ty(form)?;
        if part == Part::Wide && ty.bits == 64 {
            return Err(self.error(format!("`.wide` doesn't exist for `{ty}`")));
        }
        let result = if part == Part::Wide { ty.wide() } else { ty };
        let types = [ty, ty, result];
        let types = if form.name == "mul" { &types[..2] } else { &types[..] };
        self.alu(form, types, result, product(ty, part), Mode::Plain)
    }

    /// `and`, `or`, `xor`, `not`, also on predicates.
    pub(super) fn logic(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let ty = self.ty(form)?;
        if ty == Type::PRED {
            return self.predicate_logic(form);
        }
        if !ty.is_bits() || ty.bits < 16 {
            return Err(self.no_type(form, ty));
        }
        let types = [ty; 2];
        let (f, types): (Alu, _) = match form.name {
            "and" => (lanes!(u64, |a, b, _| a & b), &types[..]),
            "or" => (lanes!(u64, |a, b, _| a | b), &types[..]),
            "xor" => (lanes!(u64, |a, b, _| a ^ b), &types[..]),
            _ => return self.alu(form, &types[..1], ty, not(ty), Mode::Plain),
        };
        self.alu(form, types, ty, Some(f), Mode::Plain)
    }

    fn predicate_logic(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let logic = match form.name {
            "and" => Logic::And,
            "or" => Logic::Or,
            "xor" => Logic::Xor,
            _ => {
                let [p, a] = self.operands(form)?;
                let (p, mut a) = (self.to_pred(p)?, self.condition(a)?);
                a.negated ^= true;
                return Ok(Op::Predicate { logic: Logic::And, p, a, b: a });
            }
        };
        let [p, a, b] = self.operands(form)?;
        Ok(Op::Predicate { logic, p: self.to_pred(p)?, a: self.condition(a)?, b: self.condition(b)? })
    }

    /// The other instructions on bits.
    pub(super) fn bits(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        match form.name {
            "shf" => return self.funnel(form),
            "bfind" => return self.find(form),
            "prmt" => return self.permute(form),
            "lop3" => return self.lookup(form),
            _ => {}
        }
        let ty = self.ty(form)?;
        let wide = matches!(ty.bits, 32 | 64);
        let allowed = match form.name {
            "shl" | "cnot" => ty.is_bits() && ty.bits >= 16,
            "shr" => !ty.is_float() && ty.bits >= 16,
            "popc" | "clz" | "brev" | "bfi" => ty.is_bits() && wide,
            "bfe" => ty.is_integer() && wide,
            _ => ty.is_integer() && ty.bits >= 16,
        };
        if !allowed {
            return Err(self.no_type(form, ty));
        }
        let b32 = Type::B32;
        let value = if ty.is_signed() { ty } else { ty.unsigned() };
        let (result, f, types) = match form.name {
            "shl" => (ty, shl(value), vec![ty, b32]),
            "shr" => (ty, shr(value), vec![ty, b32]),
            "cnot" => (ty, integers!(value, T, |a, _, _| T::from(a == 0)), vec![ty]),
            "popc" => (b32, integers!(value, T, |a, _, _| a.count_ones()), vec![ty]),
            "clz" => (b32, integers!(value, T, |a, _, _| a.leading_zeros()), vec![ty]),
            "brev" => (ty, integers!(value, T, |a, _, _| a.reverse_bits()), vec![ty]),
            "bfe" => (ty, extract(value), vec![ty, b32, b32]),
            "bfi" => return self.insert(form, ty),
            _ => (
                ty,
                integers!(value, T, |a, b, c| c.wrapping_add(if a < b {
                    b.wrapping_sub(a)
                } else {
                    a.wrapping_sub(b)
                })),
                vec![ty, ty, ty],
            ),
        };
        self.alu(form, &types, result, f, Mode::Plain)
    }

    /// `shf.{l,r}.{clamp,wrap}.b32 d, a, b, c`: of the 64 bits `b:a`.
    fn funnel(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        self.since("`shf`", (3, 1), 32)?;
        let (direction, mode) = (form.one_of(&["l", "r"]), form.one_of(&["clamp", "wrap"]));
        let ty = self.ty(form)?;
        if ty != Type::B32 {
            return Err(self.no_type(form, ty));
        }
        let f: Alu = match (direction, mode) {
            (Some("l"), Some("clamp")) => lanes!(u32, |a, b, c| ((join(a, b) << c.min(32)) >> 32) as u32),
            (Some("l"), Some(_)) => lanes!(u32, |a, b, c| ((join(a, b) << (c & 31)) >> 32) as u32),
            (Some(_), Some("clamp")) => lanes!(u32, |a, b, c| (join(a, b) >> c.min(32)) as u32),
            (Some(_), Some(_)) => lanes!(u32, |a, b, c| (join(a, b) >> (c & 31)) as u32),
            _ => return Err(self.error("`shf` needs `.l` or `.r`, then `.clamp` or `.wrap`")),
        };
        self.alu(form, &[ty; 3], ty, Some(f), Mode::Plain)
    }

    /// `bfind{.shiftamt}.type`: the highest bit that differs from the sign; all ones if none does.
    fn find(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let amount = form.accept("shiftamt");
        let ty = self.ty(form)?;
        let f = match (ty.is_signed(), amount) {
            (false, true) => {
                for_types!(ty, T in [u32 u64], lanes!(T, |a, _, _| shift_to_top(a.into(), T::BITS)))
            }
            (false, false) => for_types!(ty, T in [u32 u64], lanes!(T, |a, _, _| highest(a.into()))),
            (true, true) => {
                for_types!(ty, T in [i32 i64], lanes!(T, |a, _, _| shift_to_top(unsigned(a.into()), T::BITS)))
            }
            (true, false) => for_types!(ty, T in [i32 i64], lanes!(T, |a, _, _| highest(unsigned(a.into())))),
        };
        self.alu(form, &[ty], Type::U32, f, Mode::Plain)
    }

    /// `bfi.type f, a, b, c, d`: four operands; position and length must be constants or registers.
    fn insert(&mut self, form: &mut Form<'_>, ty: Type) -> Result<Op, SyntaxError> {
        let [d, a, b, at, len] = self.operands(form)?;
        let (at, len) = (self.from(at, Type::U32)?, self.from(len, Type::U32)?);
        let (a, b, d) = (self.from(a, ty)?, self.from(b, ty)?, self.to(d, ty)?);
        Ok(Op::Insert { d, a, b, at, len, bits: ty.bits })
    }

    fn permute(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let ty = self.ty(form)?;
        let mode = form.one_of(&["f4e", "b4e", "rc8", "ecl", "ecr", "rc16"]);
        if ty != Type::B32 {
            return Err(self.no_type(form, ty));
        }
        let f: Alu = match mode {
            None => lanes!(u32, |a, b, c| permuted(a, b, [c & 15, c >> 4 & 15, c >> 8 & 15, c >> 12 & 15])),
            Some("f4e") => lanes!(u32, |a, b, c| permuted(a, b, [0, 1, 2, 3].map(|k| (c & 3) + k))),
            Some("b4e") => lanes!(u32, |a, b, c| permuted(a, b, [8, 7, 6, 5].map(|k| ((c & 3) + k) & 7))),
            Some("rc8") => lanes!(u32, |a, b, c| permuted(a, b, [c & 3; 4])),
            Some("ecl") => lanes!(u32, |a, b, c| permuted(a, b, [0, 1, 2, 3].map(|k| (c & 3).max(k)))),
            Some("ecr") => lanes!(u32, |a, b, c| permuted(a, b, [0, 1, 2, 3].map(|k| (c & 3).min(k)))),
            Some(_) => lanes!(u32, |a, b, c| permuted(a, b, [0, 1, 2, 3].map(|k| (c & 1) * 2 + (k & 1)))),
        };
        self.alu(form, &[ty; 3], ty, Some(f), Mode::Plain)
    }

    /// `lop3.b32 d, a, b, c, table`: bit `4a + 2b + c` of a constant table.
    fn lookup(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        self.since("`lop3`", (4, 3), 50)?;
        let ty = self.ty(form)?;
        if ty != Type::B32 {
            return Err(self.no_type(form, ty));
        }
        let [d, a, b, c, table] = self.operands(form)?;
        let table = match self.immediate(table, Type::U32) {
            Ok(table @ 0..=255) => table as u32,
            _ => return Err(self.error("the table of `lop3` must be a constant from 0 to 255")),
        };
        let (a, b, c, d) = (self.from(a, ty)?, self.from(b, ty)?, self.from(c, ty)?, self.to(d, ty)?);
        Ok(Op::Lookup { table, d, a, b, c })
    }
}

fn product(ty: Type, part: Part) -> Option<Alu> {
    // A multiplication is a multiply-add with zero: unused operands are the constant 0.
    match part {
        Part::Low => integers!(ty, T, |a, b, c| a.wrapping_mul(b).wrapping_add(c)),
        Part::High => integers!(ty, T, |a, b, c| {
            ((i128::from(a).wrapping_mul(i128::from(b)) >> T::BITS) as T).wrapping_add(c)
        })
        .map(|f| if ty == Type::U64 { high_u64() } else { f }),
        Part::Wide => match (ty.class, ty.bits) {
            (Class::Unsigned, 16) => {
                Some(lanes!(u64, |a, b, c| (a as u16 as u32 * b as u16 as u32).wrapping_add(c as u32)))
            }
            (Class::Signed, 16) => {
                Some(lanes!(u64, |a, b, c| (a as i16 as i32 * b as i16 as i32).wrapping_add(c as i32)))
            }
            (Class::Unsigned, 32) => {
                Some(lanes!(u64, |a, b, c| (a as u32 as u64 * b as u32 as u64).wrapping_add(c)))
            }
            (Class::Signed, 32) => {
                Some(lanes!(u64, |a, b, c| (a as i32 as i64 * b as i32 as i64).wrapping_add(c as i64)))
            }
            _ => None,
        },
    }
}

fn high_u64() -> Alu {
    lanes!(u64, |a, b, c| (((u128::from(a) * u128::from(b)) >> 64) as u64).wrapping_add(c))
}

fn not(ty: Type) -> Option<Alu> {
    for_types!(ty.unsigned(), T in [u16 u32 u64], lanes!(T, |a, _, _| !a))
}

/// Amounts beyond the width give 0; the amount is an unsigned 32-bit number.
fn shl(ty: Type) -> Option<Alu> {
    match ty.bits {
        16 => Some(lanes!(u64, |a, b, _| (a as u16).checked_shl(b as u32).unwrap_or(0))),
        32 => Some(lanes!(u64, |a, b, _| (a as u32).checked_shl(b as u32).unwrap_or(0))),
        64 => Some(lanes!(u64, |a, b, _| a.checked_shl(b as u32).unwrap_or(0))),
        _ => None,
    }
}

/// Signed types are filled with the sign, also beyond the width.
fn shr(ty: Type) -> Option<Alu> {
    match (ty.is_signed(), ty.bits) {
        (false, 16) => Some(lanes!(u64, |a, b, _| (a as u16).checked_shr(b as u32).unwrap_or(0))),
        (false, 32) => Some(lanes!(u64, |a, b, _| (a as u32).checked_shr(b as u32).unwrap_or(0))),
        (false, 64) => Some(lanes!(u64, |a, b, _| a.checked_shr(b as u32).unwrap_or(0))),
        (true, 16) => Some(lanes!(u64, |a, b, _| a as i16 >> (b as u32).min(15))),
        (true, 32) => Some(lanes!(u64, |a, b, _| a as i32 >> (b as u32).min(31))),
        (true, 64) => Some(lanes!(u64, |a, b, _| a as i64 >> (b as u32).min(63))),
        _ => None,
    }
}

/// `bfe`: position and length are the low 8 bits of `b` and `c`; beyond the width the sign (of the
/// highest extracted bit that exists) or zeros.
fn extract(ty: Type) -> Option<Alu> {
    match (ty.is_signed(), ty.bits) {
        (false, 32) => Some(lanes!(u64, |a, b, c| extracted(a, b, c, 32, false) as u32)),
        (false, 64) => Some(lanes!(u64, |a, b, c| extracted(a, b, c, 64, false))),
        (true, 32) => Some(lanes!(u64, |a, b, c| extracted(a, b, c, 32, true) as u32)),
        (true, 64) => Some(lanes!(u64, |a, b, c| extracted(a, b, c, 64, true))),
        _ => None,
    }
}

fn extracted(a: u64, at: u64, len: u64, bits: u64, signed: bool) -> u64 {
    let (at, len) = (at & 255, len & 255);
    let bit = |i: u64| i < bits && a >> i & 1 == 1;
    let sign = signed && len > 0 && bit((at + len - 1).min(bits - 1));
    (0..bits).fold(0, |d, i| {
        let set = if i < len && at + i < bits { bit(at + i) } else { sign };
        d | u64::from(set) << i
    })
}

/// `bfi`: `len` bits of `a` put into `b` at `at`.
pub(crate) fn inserted(a: u64, b: u64, at: u64, len: u64, bits: u32) -> u64 {
    let (at, len, bits) = (at & 255, len & 255, u64::from(bits));
    (at..(at + len).min(bits)).fold(b, |f, i| f & !(1 << i) | (a >> (i - at) & 1) << i)
}

fn join(low: u32, high: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

/// Byte `s & 7` of `b:a` for each selector, or its sign in all bits where `s & 8`.
fn permuted(a: u32, b: u32, selectors: [u32; 4]) -> u32 {
    let bytes = join(a, b).to_le_bytes();
    u32::from_le_bytes(selectors.map(|s| {
        let byte = bytes[(s & 7) as usize];
        if s & 8 == 0 {
            byte
        } else {
            (byte as i8 >> 7) as u8
        }
    }))
}

/// The number of the highest bit; all ones where there is none.
fn highest(a: i128) -> u32 {
    a.checked_ilog2().unwrap_or(u32::MAX)
}

/// How far the highest bit is from the top.
fn shift_to_top(a: i128, bits: u32) -> u32 {
    a.checked_ilog2().map_or(u32::MAX, |n| bits - 1 - n)
}

/// The bits that differ from the sign.
fn unsigned(a: i128) -> i128 {
    if a < 0 {
        !a
    } else {
        a
    }
}
