//! Branches, loops, what threads do together, and failures.
//!
//! Structured control flow becomes forward branches to the end of a branch and backward branches to
//! the start of a loop, so that the assembler finds where threads come together again.

use super::version;
use super::writer::Writer;
use crate::kernel::{Inst, Operand, Reg, Special, Ty};

impl Writer<'_> {
    /// Instructions in order.
    pub fn insts(&mut self, insts: &[Inst]) {
        for inst in insts {
            self.inst(inst);
        }
    }

    fn inst(&mut self, inst: &Inst) {
        match inst {
            Inst::Op { to, op, args } => self.operation(*to, *op, args),
            Inst::Quotients { to, over, under } => self.quotients(to, over, *under),
            Inst::Special { to, what } => self.special(*to, *what),
            Inst::Load { to, from, read_only } => self.load_from(*to, from, *read_only),
            Inst::Store { to, value, ty } => self.store(to, *value, *ty),
            Inst::Reduce { to, op, value, ty } => self.atomic(None, to, *op, *value, *ty),
            Inst::Fetch { old, to, op, value } => {
                let ty = self.kernel.ty(*old);
                self.atomic(Some(*old), to, *op, *value, ty);
            }
            Inst::Shuffle { to, value, mask } => self.shuffle(*to, *value, *mask),
            Inst::Gathered { to, value } => self.gathered(*to, *value),
            Inst::Barrier => self.line("bar.sync 0"),
            Inst::If { cond, then, otherwise } => self.branch(*cond, then, otherwise),
            Inst::Loop { before, cond, body } => self.repeat(before, *cond, body),
            Inst::Fail { failure, values } => self.fail(*failure, values),
            Inst::Comment { text, span } => {
                for (k, line) in text.lines().enumerate() {
                    let line = line.trim_end();
                    if k == 0 && span.is_some() {
                        self.comment(&format!("{}: {line}", span.line));
                    } else {
                        self.comment(line);
                    }
                }
            }
        }
    }

    fn special(&mut self, to: Reg, what: Special) {
        let name = match what {
            Special::ThreadInBlock => "%tid.x",
            Special::BlockSize => "%ntid.x",
            Special::Block => "%ctaid.x",
            Special::Blocks => "%nctaid.x",
            Special::Lane => "%laneid",
        };
        let to = self.reg(to);
        self.line(format_args!("mov.u32 {to}, {name}"));
    }

    fn next_label(&mut self) -> usize {
        self.labels += 1;
        self.labels
    }

    /// One level deeper.
    fn nested(&mut self, insts: &[Inst]) {
        self.depth += 1;
        self.insts(insts);
        self.depth -= 1;
    }

    /// Jumps where the condition is false.
    fn unless(&mut self, cond: Operand, label: &str) {
        match cond {
            Operand::Reg(r) => {
                let p = self.reg(r);
                self.line(format_args!("@!{p} bra {label}"));
            }
            Operand::Const(0, _) => self.line(format_args!("bra {label}")),
            Operand::Const(..) => {}
        }
    }

    fn branch(&mut self, cond: Operand, then: &[Inst], otherwise: &[Inst]) {
        let n = self.next_label();
        let end = format!("L{n}_end");
        if otherwise.is_empty() {
            self.unless(cond, &end);
            self.nested(then);
        } else {
            let other = format!("L{n}_else");
            self.unless(cond, &other);
            self.nested(then);
            if !matches!(then.last(), Some(Inst::Fail { .. })) {
                self.line(format_args!("bra {end}"));
            }
            self.label(&other);
            self.nested(otherwise);
        }
        self.label(&end);
    }

    fn repeat(&mut self, before: &[Inst], cond: Operand, body: &[Inst]) {
        let n = self.next_label();
        let (start, end) = (format!("L{n}_loop"), format!("L{n}_done"));
        self.label(&start);
        self.insts(before);
        self.unless(cond, &end);
        self.nested(body);
        self.line(format_args!("bra {start}"));
        self.label(&end);
    }

    /// A loop in which dividends move up and quotients move in behind them. Unrolled it would be what it
    /// is there to avoid.
    fn quotients(&mut self, to: &[Reg], over: &[Operand], under: Operand) {
        let n = self.next_label();
        let under = self.in_register(under);
        let turning: Vec<String> = over.iter().map(|_| self.temp("f64")).collect();
        let (quotient, left, more) = (self.temp("f64"), self.temp("u32"), self.temp("pred"));
        for (own, over) in turning.iter().zip(over) {
            let over = self.value(*over);
            self.line(format_args!("mov.f64 {own}, {over}"));
        }
        self.line(format_args!("mov.u32 {left}, {}", turning.len()));
        self.line(".pragma \"nounroll\"");
        self.label(&format!("L{n}_quotient"));
        if let Some(first) = turning.first() {
            self.line(format_args!("div.rn.f64 {quotient}, {first}, {under}"));
        }
        for (own, next) in turning.iter().zip(turning.iter().skip(1).chain([&quotient])) {
            self.line(format_args!("mov.f64 {own}, {next}"));
        }
        self.line(format_args!("sub.u32 {left}, {left}, 1"));
        self.line(format_args!("setp.ne.u32 {more}, {left}, 0"));
        self.line(format_args!("@{more} bra L{n}_quotient"));
        for (to, own) in to.iter().zip(&turning) {
            let to = self.reg(*to);
            self.line(format_args!("mov.f64 {to}, {own}"));
        }
    }

    /// The lanes that are here together ask for all others, which tells each the same; where all are here they
    /// compare their values with the first lane's.
    fn gathered(&mut self, to: Reg, value: Operand) {
        self.requires(version::ACTIVE_MASK);
        let (to, here) = (self.reg(to), self.temp("b32"));
        self.line(format_args!("activemask.b32 {here}"));
        self.line(format_args!("setp.eq.u32 {to}, {here}, 0xffffffff"));
        if let Operand::Const(..) = value {
            return;
        }
        let n = self.next_label();
        let halves = match self.kernel.operand_ty(value).size() {
            8 => {
                let (low, high, value) = (self.temp("b32"), self.temp("b32"), self.in_register(value));
                self.line(format_args!("mov.b64 {{{low}, {high}}}, {value}"));
                vec![low, high]
            }
            _ => vec![self.in_register(value)],
        };
        self.line(format_args!("@!{to} bra L{n}_apart"));
        for half in halves {
            let (first, same) = (self.temp("b32"), self.temp("pred"));
            self.line(format_args!("shfl.sync.idx.b32 {first}, {half}, 0, 31, 0xffffffff"));
            self.line(format_args!("setp.eq.u32 {same}, {first}, {half}"));
            self.line(format_args!("and.pred {to}, {to}, {same}"));
        }
        self.line(format_args!("vote.sync.all.pred {to}, {to}, 0xffffffff"));
        self.label(&format!("L{n}_apart"));
    }

    /// Another lane's value: 64 bits in two halves, narrow types in a word.
    fn shuffle(&mut self, to: Reg, value: Operand, mask: u32) {
        self.requires(version::SHUFFLE);
        let ty = self.kernel.ty(to);
        let exchange = |w: &mut Self, to: &str, from: &str| {
            w.line(format_args!("shfl.sync.bfly.b32 {to}, {from}, {mask}, 31, 0xffffffff"));
        };
        let (value, d) = (self.in_register(value), self.reg(to));
        match ty.size() {
            4 => exchange(self, &d, &value),
            8 => {
                let (low, high) = (self.temp("b32"), self.temp("b32"));
                self.line(format_args!("mov.b64 {{{low}, {high}}}, {value}"));
                exchange(self, &low, &low);
                exchange(self, &high, &high);
                self.line(format_args!("mov.b64 {d}, {{{low}, {high}}}"));
            }
            _ => {
                let t = self.temp("u32");
                if ty == Ty::Pred {
                    self.line(format_args!("selp.u32 {t}, 1, 0, {value}"));
                    exchange(self, &t, &t);
                    return self.line(format_args!("setp.ne.u32 {d}, {t}, 0"));
                }
                self.line(format_args!("cvt.u32.u16 {t}, {value}"));
                exchange(self, &t, &t);
                self.line(format_args!("cvt.u16.u32 {d}, {t}"));
            }
        }
    }

    /// The first thread that fails writes the record; the values need no order with respect to the
    /// first word, since the host reads them after the kernel's end.
    fn fail(&mut self, failure: u32, values: &[Operand]) {
        if let Some(record) = self.kernel.error_record {
            let (record, found, late) = (self.reg(record), self.temp("u32"), self.temp("pred"));
            let number = failure.wrapping_add(1);
            self.line(format_args!("atom.global.cas.b32 {found}, [{record}], 0, {number}"));
            self.line(format_args!("setp.ne.u32 {late}, {found}, 0"));
            self.line(format_args!("@{late} exit"));
            for (k, value) in values.iter().enumerate() {
                let value = self.widened(*value);
                self.line(format_args!("st.global.b64 [{record}+{}], {value}", 8 + 8 * k));
            }
        }
        self.line("exit");
    }

    /// A register with the 64 bits that the record holds for a value.
    fn widened(&mut self, value: Operand) -> String {
        let ty = self.kernel.operand_ty(value);
        let value = self.in_register(value);
        let (wide, name) = match ty {
            Ty::I64 | Ty::U64 | Ty::F64 => return value,
            Ty::Pred => {
                let t = self.temp("u64");
                self.line(format_args!("selp.u64 {t}, 1, 0, {value}"));
                return t;
            }
            Ty::F16 | Ty::Bf16 => {
                let single = self.temp("f32");
                self.widen_text(&single, &value, ty);
                let t = self.temp("f64");
                self.line(format_args!("cvt.f64.f32 {t}, {single}"));
                return t;
            }
            Ty::F32 => ("f64", "cvt.f64.f32"),
            Ty::I8 | Ty::I16 => ("s64", "cvt.s64.s16"),
            Ty::I32 => ("s64", "cvt.s64.s32"),
            Ty::U8 | Ty::U16 => ("u64", "cvt.u64.u16"),
            Ty::U32 => ("u64", "cvt.u64.u32"),
        };
        let t = self.temp(wide);
        self.line(format_args!("{name} {t}, {value}"));
        t
    }
}
