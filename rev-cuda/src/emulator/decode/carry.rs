//! The manual's section on extended-precision integer arithmetic: the carry flag.

use super::{Decoder, Form};
use crate::emulator::code::Op;
use crate::emulator::syntax::Type;
use crate::emulator::SyntaxError;

/// A result and the carry (or borrow) out, from three operands and the carry (or borrow) in.
type Step = fn(u64, u64, u64, bool) -> (u64, bool);

impl Decoder<'_> {
    /// `add.cc`, `addc{.cc}`, `sub.cc`, `subc{.cc}`, `mad{.hi,.lo}.cc`, `madc{.hi,.lo}{.cc}`.
    pub(super) fn carry(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let product = matches!(form.name, "mad" | "madc");
        let high = product
            && match form.one_of(&["lo", "hi"]) {
                Some(part) => part == "hi",
                None => return Err(self.error(format!("`{}` needs `.lo` or `.hi`", form.name))),
            };
        let reads = form.name.ends_with('c');
        let sets = form.accept("cc");
        let ty = self.ty(form)?;
        if !ty.is_integer() || ty.bits < 32 {
            return Err(self.no_type(form, ty));
        }
        if ty.bits == 64 {
            self.since("64-bit carry arithmetic", (4, 3), 20)?;
        }
        let f = step(form.name, ty, high);
        let zero = self.constant(0);
        let (d, a, b, c) = if product {
            let [d, a, b, c] = self.operands(form)?;
            (d, self.from(a, ty)?, self.from(b, ty)?, self.from(c, ty)?)
        } else {
            let [d, a, b] = self.operands(form)?;
            (d, self.from(a, ty)?, self.from(b, ty)?, zero)
        };
        Ok(Op::Carry { f, sets, reads, d: self.to(d, ty)?, a, b, c })
    }
}

fn step(name: &str, ty: Type, high: bool) -> Step {
    let wide = ty.bits == 64;
    match (name, wide, high) {
        ("add" | "addc", false, _) => |a, b, _, carry| {
            let sum = a + b + u64::from(carry);
            (sum & 0xffff_ffff, sum >> 32 != 0)
        },
        ("add" | "addc", true, _) => |a, b, _, carry| {
            let sum = u128::from(a) + u128::from(b) + u128::from(carry);
            (sum as u64, sum >> 64 != 0)
        },
        ("sub" | "subc", false, _) => |a, b, _, borrow| {
            let difference = a.wrapping_sub(b).wrapping_sub(u64::from(borrow));
            (difference & 0xffff_ffff, a < b + u64::from(borrow))
        },
        ("sub" | "subc", true, _) => |a, b, _, borrow| {
            let (x, first) = a.overflowing_sub(b);
            let (y, second) = x.overflowing_sub(u64::from(borrow));
            (y, first || second)
        },
        _ => product_step(ty, high),
    }
}

fn product_step(ty: Type, high: bool) -> Step {
    match (ty.bits, ty.is_signed(), high) {
        (32, _, false) => |a, b, c, carry| {
            let sum = ((a * b) & 0xffff_ffff) + c + u64::from(carry);
            (sum & 0xffff_ffff, sum >> 32 != 0)
        },
        (32, false, true) => |a, b, c, carry| {
            let sum = ((a * b) >> 32) + c + u64::from(carry);
            (sum & 0xffff_ffff, sum >> 32 != 0)
        },
        (32, true, true) => |a, b, c, carry| {
            let part = (i64::from(a as i32) * i64::from(b as i32)) as u64 >> 32;
            let sum = part + c + u64::from(carry);
            (sum & 0xffff_ffff, sum >> 32 != 0)
        },
        (_, _, false) => |a, b, c, carry| {
            let sum = u128::from(a.wrapping_mul(b)) + u128::from(c) + u128::from(carry);
            (sum as u64, sum >> 64 != 0)
        },
        (_, false, true) => |a, b, c, carry| {
            let part = (u128::from(a) * u128::from(b)) >> 64;
            let sum = part + u128::from(c) + u128::from(carry);
            (sum as u64, sum >> 64 != 0)
        },
        (_, true, true) => |a, b, c, carry| {
            let part = (i128::from(a as i64) * i128::from(b as i64)) as u128 >> 64;
            let sum = part + u128::from(c) + u128::from(carry);
            (sum as u64, sum >> 64 != 0)
        },
    }
}
