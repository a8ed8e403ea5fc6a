//! Control flow, barriers and exchanges between the lanes of a warp.

use super::{Decoder, Form};
use crate::emulator::code::{Exchange, ExchangeKind, Op, Shuffle, Update, Vote};
use crate::emulator::syntax::{Class, Operand, Type};
use crate::emulator::SyntaxError;

impl Decoder<'_> {
    pub(super) fn branch(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let uniform = form.accept("uni");
        let [target] = self.operands(form)?;
        let Operand::Name(label, 0) = target else {
            return Err(self.error("expected a label"));
        };
        match self.labels.get(label) {
            Some(target) => Ok(Op::Branch { target: *target, uniform }),
            None => Err(self.error(format!("there is no label `{label}`"))),
        }
    }

    /// `ret`, `exit` and `trap`. Outside a function `ret` ends the thread.
    pub(super) fn leave(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        if form.name == "ret" {
            form.accept("uni");
        }
        let [] = self.operands(form)?;
        Ok(if form.name == "trap" { Op::Trap } else { Op::Exit })
    }

    /// `bar{.cta}.sync a{, b}`, `bar.warp.sync m`, `barrier{.cta}.sync{.aligned} a{, b}`
    pub(super) fn barrier(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        if form.name == "bar" && form.accept("warp") {
            self.since("`bar.warp.sync`", (6, 0), 30)?;
            if !form.accept("sync") {
                return Err(self.error("expected `bar.warp.sync`"));
            }
            let [members] = self.operands(form)?;
            let members = self.from(members, Type::B32)?;
            return Ok(Op::Exchange(Exchange { members, kind: ExchangeKind::Barrier }));
        }
        form.accept("cta");
        if !form.accept("sync") {
            return Err(self.error(format!("only `{}.sync` is supported", form.name)));
        }
        let aligned = form.name == "bar" || form.accept("aligned");
        if form.name == "barrier" {
            self.since("`barrier`", (6, 0), 30)?;
        }
        self.no_more(form)?;
        let (id, count) = match form.operands {
            [id] => (id, None),
            [id, count] => (id, Some(self.from(count, Type::U32)?)),
            _ => return Err(self.error("a barrier takes its number, and how many threads")),
        };
        if let Operand::Int(n) = id {
            if !(0..16).contains(n) {
                return Err(self.error("barriers are numbered from 0 to 15"));
            }
        }
        if matches!(form.operands.get(1), Some(Operand::Int(n)) if *n <= 0 || n % 32 != 0) {
            return Err(self.error("the number of threads must be a multiple of the warp's"));
        }
        Ok(Op::Barrier { id: self.from(id, Type::U32)?, count, aligned })
    }

    /// `membar.level` and `fence{.sem}.scope`. Memory is sequentially consistent here.
    pub(super) fn fence(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let scope = if form.name == "fence" {
            self.since("`fence`", (6, 0), 70)?;
            form.one_of(&["sc", "acq_rel"]);
            form.one_of(&["cta", "gpu", "sys"])
        } else {
            form.one_of(&["cta", "gl", "sys"])
        };
        if scope.is_none() {
            return Err(self.error(format!("`{}` needs a scope", form.name)));
        }
        let [] = self.operands(form)?;
        Ok(Op::Fence)
    }

    /// `shfl.sync.mode.b32 d{|p}, a, b, c, members`
    pub(super) fn shuffle(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        self.sync(form, (6, 0), 30)?;
        let how = match form.one_of(&["up", "down", "bfly", "idx"]) {
            Some("up") => Shuffle::Up,
            Some("down") => Shuffle::Down,
            Some("bfly") => Shuffle::Butterfly,
            Some(_) => Shuffle::Index,
            None => return Err(self.error("`shfl.sync` needs `.up`, `.down`, `.bfly` or `.idx`")),
        };
        let ty = self.only(form, Type::B32)?;
        let [d, a, b, c, members] = self.operands(form)?;
        let (d, p) = self.pair(d)?;
        let kind = ExchangeKind::Shuffle {
            how,
            d: self.to(d, ty)?,
            p,
            a: self.from(a, ty)?,
            b: self.from(b, Type::U32)?,
            c: self.from(c, Type::U32)?,
        };
        Ok(Op::Exchange(Exchange { members: self.from(members, Type::B32)?, kind }))
    }

    /// `vote.sync.{all,any,uni}.pred p, {!}a, members` and `vote.sync.ballot.b32 d, {!}a, members`
    pub(super) fn vote(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        self.sync(form, (6, 0), 30)?;
        let how = match form.one_of(&["all", "any", "uni", "ballot"]) {
            Some("all") => Vote::All,
            Some("any") => Vote::Any,
            Some("uni") => Vote::Uniform,
            Some(_) => Vote::Ballot,
            None => return Err(self.error("`vote.sync` needs `.all`, `.any`, `.uni` or `.ballot`")),
        };
        let ty = self.only(form, if how == Vote::Ballot { Type::B32 } else { Type::PRED })?;
        let [d, a, members] = self.operands(form)?;
        let a = self.condition(a)?;
        let kind = if how == Vote::Ballot {
            ExchangeKind::Ballot { d: self.to(d, ty)?, a }
        } else {
            ExchangeKind::VotePred { how, p: self.to_pred(d)?, a }
        };
        Ok(Op::Exchange(Exchange { members: self.from(members, Type::B32)?, kind }))
    }

    /// `match.any.sync.type d, a, members` and `match.all.sync.type d{|p}, a, members`
    pub(super) fn match_(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        let all = match form.one_of(&["any", "all"]) {
            Some(mode) => mode == "all",
            None => return Err(self.error("`match` needs `.any` or `.all`")),
        };
        self.sync(form, (6, 0), 70)?;
        let ty = self.ty(form)?;
        if !ty.is_bits() || ty.bits < 32 {
            return Err(self.no_type(form, ty));
        }
        let [d, a, members] = self.operands(form)?;
        let (d, p) = self.pair(d)?;
        if p.is_some() && !all {
            return Err(self.error("`match.any` gives no predicate"));
        }
        let (d, a) = (self.to(d, Type::B32)?, self.from(a, ty)?);
        let kind = if all { ExchangeKind::MatchAll { d, p, a } } else { ExchangeKind::MatchAny { d, a } };
        Ok(Op::Exchange(Exchange { members: self.from(members, Type::B32)?, kind }))
    }

    /// `redux.sync.op.type d, a, members`
    pub(super) fn redux(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        self.sync(form, (7, 0), 80)?;
        let Some((op, rest)) = form.mods.split_first() else {
            return Err(self.error("`redux.sync` needs an operation"));
        };
        form.mods = rest;
        let ty = self.ty(form)?;
        let f: Update = match (op.as_str(), ty.class, ty.bits) {
            ("add", Class::Unsigned | Class::Signed, 32) => {
                |a, b, _| (a as u32).wrapping_add(b as u32).into()
            }
            ("min", Class::Unsigned, 32) => |a, b, _| a.min(b),
            ("max", Class::Unsigned, 32) => |a, b, _| a.max(b),
            ("min", Class::Signed, 32) => |a, b, _| (a as i32).min(b as i32) as u32 as u64,
            ("max", Class::Signed, 32) => |a, b, _| (a as i32).max(b as i32) as u32 as u64,
            ("and", Class::Bits, 32) => |a, b, _| a & b,
            ("or", Class::Bits, 32) => |a, b, _| a | b,
            ("xor", Class::Bits, 32) => |a, b, _| a ^ b,
            _ => return Err(self.error(format!("`redux.sync.{op}` doesn't exist for `{ty}`"))),
        };
        let [d, a, members] = self.operands(form)?;
        let kind = ExchangeKind::Reduce { f, d: self.to(d, ty)?, a: self.from(a, ty)? };
        Ok(Op::Exchange(Exchange { members: self.from(members, Type::B32)?, kind }))
    }

    pub(super) fn activemask(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        self.since("`activemask`", (6, 2), 30)?;
        let ty = self.only(form, Type::B32)?;
        let [d] = self.operands(form)?;
        Ok(Op::ActiveMask { d: self.to(d, ty)? })
    }

    fn sync(&self, form: &mut Form<'_>, version: (u32, u32), target: u32) -> Result<(), SyntaxError> {
        if !form.accept("sync") {
            return Err(self.error(format!("`{}` without `.sync` isn't supported", form.name)));
        }
        self.since(&format!("`{}.sync`", form.name), version, target)
    }

    fn only(&self, form: &mut Form<'_>, ty: Type) -> Result<Type, SyntaxError> {
        let found = self.ty(form)?;
        if found == ty {
            Ok(ty)
        } else {
            Err(self.no_type(form, found))
        }
    }
}
