//! Operations on registers.
//!
//! Sequences of several instructions write their result last, so that it may be one of the operands.

use super::writer::{bits, register, Writer};
use crate::kernel::{Op, Operand, Reg, Relation, Ty};

impl Writer<'_> {
    /// `to = op(args)`
    pub fn operation(&mut self, to: Reg, op: Op, args: &[Operand]) {
        let ty = self.kernel.ty(to);
        let t = register(ty);
        let float = ty.is_float();
        match op {
            Op::Neg if ty.is_half() => self.plain("xor.b16", to, &[args[0], Operand::Const(0x8000, ty)]),
            Op::Abs if ty.is_half() => self.plain("and.b16", to, &[args[0], Operand::Const(0x7fff, ty)]),
            Op::CopySign if ty.is_half() => self.copy_sign_bit(to, args),
            Op::Move => self.plain(&format!("mov.{t}"), to, args),
            Op::Add | Op::Sub => {
                let name = if op == Op::Add { "add" } else { "sub" };
                self.arithmetic(
                    &if float { format!("{name}.rn.{t}") } else { format!("{name}.{t}") },
                    to,
                    args,
                );
            }
            Op::Mul => {
                self.arithmetic(&if float { format!("mul.rn.{t}") } else { format!("mul.lo.{t}") }, to, args)
            }
            Op::MulHigh => self.high(to, args),
            Op::MulWide => self.plain("mul.wide.u32", to, args),
            Op::Div if float => self.plain(&format!("div.rn.{t}"), to, args),
            Op::Div | Op::Rem => self.divide(to, op, args),
            Op::Fma => self.plain(&format!("fma.rn.{t}"), to, args),
            // Of integers there is only the signed form, whose bits are the unsigned one's too.
            Op::Neg => self.arithmetic(&format!("neg.{}", t.replace('u', "s")), to, args),
            Op::Abs if float => self.plain(&format!("abs.{t}"), to, args),
            Op::Abs => self.absolute(to, args[0]),
            Op::Min | Op::Max => self.extremum(to, op, args),
            Op::Sqrt => self.plain(&format!("sqrt.rn.{t}"), to, args),
            Op::Floor => self.plain(&format!("cvt.rmi.{t}.{t}"), to, args),
            Op::Ceil => self.plain(&format!("cvt.rpi.{t}.{t}"), to, args),
            Op::Trunc => self.plain(&format!("cvt.rzi.{t}.{t}"), to, args),
            Op::RoundEven => self.plain(&format!("cvt.rni.{t}.{t}"), to, args),
            // PTX takes the sign from its first operand.
            Op::CopySign => self.plain(&format!("copysign.{t}"), to, &[args[1], args[0]]),
            Op::And => self.plain(&format!("and.{}", bits(ty)), to, args),
            Op::Or => self.plain(&format!("or.{}", bits(ty)), to, args),
            Op::Xor => self.plain(&format!("xor.{}", bits(ty)), to, args),
            Op::Not => self.arithmetic(&format!("not.{}", bits(ty)), to, args),
            Op::Shl | Op::Shr => self.shift(to, op, args),
            Op::Compare(relation) => self.compare(to, relation, args),
            Op::Select => self.select(to, args),
            Op::Convert => self.convert(to, args[0]),
            Op::Bits => self.reinterpret(to, args[0]),
        }
    }

    /// The sign bit of the second operand on the other bits of the first.
    fn copy_sign_bit(&mut self, to: Reg, args: &[Operand]) {
        let (a, b) = (self.in_register(args[0]), self.in_register(args[1]));
        let (x, y, d) = (self.temp("b16"), self.temp("b16"), self.reg(to));
        self.line(format_args!("and.b16 {x}, {a}, 0x7FFF"));
        self.line(format_args!("and.b16 {y}, {b}, 0x8000"));
        self.line(format_args!("or.b16 {d}, {x}, {y}"));
    }

    /// One instruction.
    fn plain(&mut self, name: &str, to: Reg, args: &[Operand]) {
        let args: Vec<String> = args.iter().map(|a| self.operand(name, *a)).collect();
        let to = self.reg(to);
        self.line(format_args!("{name} {to}, {}", args.join(", ")));
    }

    /// Conversions take registers only.
    fn operand(&mut self, name: &str, operand: Operand) -> String {
        if name.starts_with("cvt") {
            self.in_register(operand)
        } else {
            self.value(operand)
        }
    }

    /// One instruction whose result may leave the range of an 8-bit integer.
    fn arithmetic(&mut self, name: &str, to: Reg, args: &[Operand]) {
        self.plain(name, to, args);
        self.normalise(to);
    }

    /// Extends the low byte of an 8-bit integer's register.
    pub fn normalise(&mut self, to: Reg) {
        let name = match self.kernel.ty(to) {
            Ty::I8 => "cvt.s16.s8",
            Ty::U8 => "cvt.u16.u8",
            _ => return,
        };
        let to = self.reg(to);
        self.line(format_args!("{name} {to}, {to}"));
    }

    /// The high half of a product; of bytes, whose product fits their registers, by a shift.
    fn high(&mut self, to: Reg, args: &[Operand]) {
        let ty = self.kernel.ty(to);
        let t = register(ty);
        if ty.size() > 1 {
            return self.plain(&format!("mul.hi.{t}"), to, args);
        }
        self.plain(&format!("mul.lo.{t}"), to, args);
        let to = self.reg(to);
        self.line(format_args!("shr.{t} {to}, {to}, 8"));
    }

    /// `|a|` as the larger of `a` and `-a`: what PTX's `abs` makes of the least integer isn't said.
    fn absolute(&mut self, to: Reg, a: Operand) {
        let ty = self.kernel.ty(to);
        let t = register(ty);
        if !ty.is_signed() {
            return self.plain(&format!("mov.{t}"), to, &[a]);
        }
        let (a, negative) = (self.in_register(a), self.temp(t));
        let d = self.reg(to);
        self.line(format_args!("neg.{t} {negative}, {a}"));
        self.line(format_args!("max.{t} {d}, {a}, {negative}"));
        self.normalise(to);
    }

    /// Integers truncate. What PTX makes of `MIN / -1` isn't said: `a / -1` is done as `-a`, and its
    /// remainder as that by 1.
    fn divide(&mut self, to: Reg, op: Op, args: &[Operand]) {
        let ty = self.kernel.ty(to);
        let t = register(ty);
        let name = if op == Op::Div { "div" } else { "rem" };
        // Bytes can't overflow in their registers, and a constant is seen here.
        let safe = match args[1] {
            Operand::Const(bits, _) => bits as i64 != -1 && bits != u64::MAX >> (64 - 8 * ty.size()),
            Operand::Reg(_) => false,
        };
        if !ty.is_signed() || ty.size() == 1 || safe {
            return self.arithmetic(&format!("{name}.{t}"), to, args);
        }
        let (a, b) = (self.in_register(args[0]), self.in_register(args[1]));
        let (minus_one, divisor) = (self.temp("pred"), self.temp(t));
        let d = self.reg(to);
        self.line(format_args!("setp.eq.{t} {minus_one}, {b}, -1"));
        self.line(format_args!("selp.{} {divisor}, 1, {b}, {minus_one}", bits(ty)));
        if op == Op::Rem {
            return self.line(format_args!("rem.{t} {d}, {a}, {divisor}"));
        }
        let (quotient, negative) = (self.temp(t), self.temp(t));
        self.line(format_args!("div.{t} {quotient}, {a}, {divisor}"));
        self.line(format_args!("neg.{t} {negative}, {quotient}"));
        self.line(format_args!("selp.{} {d}, {negative}, {quotient}, {minus_one}", bits(ty)));
    }

    /// Floats by a comparison, since PTX's `min` and `max` order zeros by sign and drop NaN.
    fn extremum(&mut self, to: Reg, op: Op, args: &[Operand]) {
        let t = register(self.kernel.ty(to));
        if !self.kernel.ty(to).is_float() {
            return self.plain(&format!("{}.{t}", if op == Op::Min { "min" } else { "max" }), to, args);
        }
        let (a, b, first) = (self.in_register(args[0]), self.value(args[1]), self.temp("pred"));
        let d = self.reg(to);
        let relation = if op == Op::Min { "le" } else { "ge" };
        self.line(format_args!("setp.{relation}.{t} {first}, {a}, {b}"));
        self.line(format_args!("selp.{t} {d}, {a}, {b}, {first}"));
    }

    /// The amount modulo the width, as PTX clamps it.
    fn shift(&mut self, to: Reg, op: Op, args: &[Operand]) {
        let ty = self.kernel.ty(to);
        let mask = 8 * ty.size() as u32 - 1;
        let amount = match args[1] {
            Operand::Const(n, _) => (n as u32 & mask).to_string(),
            Operand::Reg(r) => {
                let (n, t) = (self.reg(r), self.temp("u32"));
                self.line(format_args!("and.b32 {t}, {n}, {mask}"));
                t
            }
        };
        let (a, d) = (self.value(args[0]), self.reg(to));
        if op == Op::Shl {
            self.line(format_args!("shl.{} {d}, {a}, {amount}", bits(ty)));
            self.normalise(to);
        } else {
            self.line(format_args!("shr.{} {d}, {a}, {amount}", register(ty)));
        }
    }

    /// A comparison. Of floats, `ne` is the unordered one: true on NaN.
    fn compare(&mut self, to: Reg, relation: Relation, args: &[Operand]) {
        let ty = self.kernel.operand_ty(args[0]);
        if ty == Ty::Pred {
            return self.compare_truth(to, relation, args);
        }
        let name = match relation {
            Relation::Eq => "eq",
            Relation::Ne if ty.is_float() => "neu",
            Relation::Ne => "ne",
            Relation::Lt => "lt",
            Relation::Le => "le",
            Relation::Gt => "gt",
            Relation::Ge => "ge",
        };
        let (a, b) = (self.in_register(args[0]), self.value(args[1]));
        let d = self.reg(to);
        self.line(format_args!("setp.{name}.{} {d}, {a}, {b}", register(ty)));
    }

    /// Truth values as numbers: false is the smaller.
    fn compare_truth(&mut self, to: Reg, relation: Relation, args: &[Operand]) {
        let (a, b) = (self.in_register(args[0]), self.in_register(args[1]));
        let (d, t) = (self.reg(to), self.temp("pred"));
        // a < b is !a & b, a <= b is !a | b, and so on with a and b exchanged.
        let (op, negated, other) = match relation {
            Relation::Eq | Relation::Ne => {
                self.line(format_args!("xor.pred {t}, {a}, {b}"));
                let name = if relation == Relation::Eq { "not" } else { "mov" };
                return self.line(format_args!("{name}.pred {d}, {t}"));
            }
            Relation::Lt => ("and", a, b),
            Relation::Le => ("or", a, b),
            Relation::Gt => ("and", b, a),
            Relation::Ge => ("or", b, a),
        };
        self.line(format_args!("not.pred {t}, {negated}"));
        self.line(format_args!("{op}.pred {d}, {t}, {other}"));
    }

    /// A choice; of truth values `(p & a) | (!p & b)`.
    fn select(&mut self, to: Reg, args: &[Operand]) {
        let ty = self.kernel.ty(to);
        let p = self.in_register(args[0]);
        if ty != Ty::Pred {
            let (a, b, d) = (self.value(args[1]), self.value(args[2]), self.reg(to));
            return self.line(format_args!("selp.{} {d}, {a}, {b}, {p}", register(ty)));
        }
        let (a, b, d) = (self.in_register(args[1]), self.in_register(args[2]), self.reg(to));
        let (x, q, y) = (self.temp("pred"), self.temp("pred"), self.temp("pred"));
        self.line(format_args!("and.pred {x}, {p}, {a}"));
        self.line(format_args!("not.pred {q}, {p}"));
        self.line(format_args!("and.pred {y}, {q}, {b}"));
        self.line(format_args!("or.pred {d}, {x}, {y}"));
    }
}
