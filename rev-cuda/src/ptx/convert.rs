//! Conversions between types.

use super::writer::{bits, register, Writer};
use crate::kernel::{Operand, Reg, Ty};

impl Writer<'_> {
    /// A value of another type.
    pub fn convert(&mut self, to: Reg, from: Operand) {
        let (source, target) = (self.kernel.operand_ty(from), self.kernel.ty(to));
        match (source, target) {
            (Ty::Pred, Ty::Pred) => self.line_from("mov.pred", to, from),
            (Ty::Pred, _) => {
                let (one, zero) = match target {
                    Ty::F32 => ("0f3F800000", "0f00000000"),
                    Ty::F64 => ("0d3FF0000000000000", "0d0000000000000000"),
                    _ => ("1", "0"),
                };
                let (p, d) = (self.in_register(from), self.reg(to));
                self.line(format_args!("selp.{} {d}, {one}, {zero}, {p}", register(target)));
            }
            (_, Ty::Pred) => {
                let (a, d) = (self.in_register(from), self.reg(to));
                let zero = if source.is_float() { "neu" } else { "ne" };
                let value = match source {
                    Ty::F32 => "0f00000000",
                    Ty::F64 => "0d0000000000000000",
                    _ => "0",
                };
                self.line(format_args!("setp.{zero}.{} {d}, {a}, {value}", register(source)));
            }
            _ if source == target => self.line_from(&format!("mov.{}", register(target)), to, from),
            (Ty::F16 | Ty::Bf16, _) => self.widen(to, from, source),
            (_, Ty::F16 | Ty::Bf16) => self.narrow(to, from, target),
            (Ty::F64, Ty::F32) => self.line_from("cvt.rn.f32.f64", to, from),
            (Ty::F32, Ty::F64) => self.line_from("cvt.f64.f32", to, from),
            _ if source.is_float() => self.round(to, from),
            _ if target.is_float() => {
                self.line_from(&format!("cvt.rn.{}.{}", register(target), register(source)), to, from);
            }
            _ => self.resize(to, from),
        }
    }

    /// One instruction with one operand.
    fn line_from(&mut self, name: &str, to: Reg, from: Operand) {
        let (a, d) = (self.in_register(from), self.reg(to));
        self.line(format_args!("{name} {d}, {a}"));
    }

    /// 16 bits as `f32`, exactly.
    fn widen(&mut self, to: Reg, from: Operand, source: Ty) {
        let a = self.in_register(from);
        let d = self.reg(to);
        self.widen_text(&d, &a, source);
    }

    pub(super) fn widen_text(&mut self, to: &str, a: &str, source: Ty) {
        if source == Ty::F16 {
            return self.line(format_args!("cvt.f32.f16 {to}, {a}"));
        }
        let t = self.temp("u32");
        self.line(format_args!("cvt.u32.u16 {t}, {a}"));
        self.line(format_args!("shl.b32 {t}, {t}, 16"));
        self.line(format_args!("mov.b32 {to}, {t}"));
    }

    /// `f32` rounded to 16 bits, to nearest even; NaN of any kind is the type's one.
    fn narrow(&mut self, to: Reg, from: Operand, target: Ty) {
        let a = self.in_register(from);
        let d = self.reg(to);
        self.narrow_text(&d, &a, target);
    }

    pub(super) fn narrow_text(&mut self, to: &str, a: &str, target: Ty) {
        let nan = self.temp("pred");
        if target == Ty::F16 {
            let t = self.temp("b16");
            self.line(format_args!("cvt.rn.f16.f32 {t}, {a}"));
            self.line(format_args!("setp.nan.f32 {nan}, {a}, {a}"));
            return self.line(format_args!("selp.b16 {to}, 0x7E00, {t}, {nan}"));
        }
        // PTX has the conversion from sm_80 on; this is it on every machine: half a unit less one, and
        // one more where the bit that stays is odd, carries into what stays
        let (bits, t) = (self.temp("u32"), self.temp("u32"));
        self.line(format_args!("mov.b32 {bits}, {a}"));
        self.line(format_args!("shr.u32 {t}, {bits}, 16"));
        self.line(format_args!("and.b32 {t}, {t}, 1"));
        self.line(format_args!("add.u32 {t}, {t}, 32767"));
        self.line(format_args!("add.u32 {t}, {t}, {bits}"));
        self.line(format_args!("shr.u32 {t}, {t}, 16"));
        self.line(format_args!("setp.nan.f32 {nan}, {a}, {a}"));
        self.line(format_args!("selp.b32 {t}, 0x7FC0, {t}, {nan}"));
        self.line(format_args!("cvt.u16.u32 {to}, {t}"));
    }

    /// An integer of another width or sign. Extension is by the source's sign.
    fn resize(&mut self, to: Reg, from: Operand) {
        let (source, target) = (self.kernel.operand_ty(from), self.kernel.ty(to));
        let width = |ty: Ty| ty.size().max(2);
        if width(source) == width(target) {
            self.line_from(&format!("mov.{}", bits(target)), to, from);
        } else {
            self.line_from(&format!("cvt.{}.{}", register(target), register(source)), to, from);
        }
        if target.size() == 1 && source != target {
            self.normalise(to);
        }
    }

    /// Truncates a float, saturating; NaN gives 0. Narrow integers are clamped at 32 bits.
    fn round(&mut self, to: Reg, from: Operand) {
        let (source, target) = (self.kernel.operand_ty(from), self.kernel.ty(to));
        let (s, t) = (register(source), register(target));
        let (a, nan) = (self.in_register(from), self.temp("pred"));
        self.line(format_args!("setp.nan.{s} {nan}, {a}, {a}"));
        let narrow = match target {
            Ty::I8 => Some(("s32", i8::MIN.into(), i8::MAX.into())),
            Ty::I16 => Some(("s32", i16::MIN.into(), i16::MAX.into())),
            Ty::U8 => Some(("u32", 0, u8::MAX.into())),
            Ty::U16 => Some(("u32", 0, u16::MAX.into())),
            _ => None,
        };
        let d = self.reg(to);
        let Some((wide, least, most)) = narrow else {
            let x = self.temp(t);
            self.line(format_args!("cvt.rzi.{t}.{s} {x}, {a}"));
            return self.line(format_args!("selp.{} {d}, 0, {x}, {nan}", bits(target)));
        };
        let x = self.temp(wide);
        let (least, most): (i32, i32) = (least, most);
        self.line(format_args!("cvt.rzi.{wide}.{s} {x}, {a}"));
        if wide == "s32" {
            self.line(format_args!("max.s32 {x}, {x}, {least}"));
        }
        self.line(format_args!("min.{wide} {x}, {x}, {most}"));
        self.line(format_args!("selp.b32 {x}, 0, {x}, {nan}"));
        self.line(format_args!("cvt.{t}.{wide} {d}, {x}"));
    }

    /// The same bits in another type of the same size.
    pub fn reinterpret(&mut self, to: Reg, from: Operand) {
        let (source, target) = (self.kernel.operand_ty(from), self.kernel.ty(to));
        if source.size() == 1 {
            // Bytes and truth values keep their bits when they are converted.
            return self.convert(to, from);
        }
        self.line_from(&format!("mov.{}", bits(target)), to, from);
    }
}
