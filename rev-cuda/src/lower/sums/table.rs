//! A table in shared memory for each block of threads, to which its threads add; at the end each
//! element of it is added once to what all blocks share.

use std::rc::Rc;

use crate::kernel::{Inst, Op, Space, Special, Ty};
use crate::layout::buffer_bytes;

use super::super::atom::Atom;
use super::super::memory::{ArrayLoc, Loc, Mem, MemLoc};
use super::super::value::Val;
use super::super::{Lower, Outcome};
use super::{gathers, shared, Sum};

impl Lower<'_> {
    /// The table, filled with zeros by the block's threads. A barrier has to follow.
    pub(super) fn open_table(&mut self, sum: &mut Sum) -> Outcome<Loc> {
        let Some((start, room)) = sum.table else { return Err(self.unsupported("a table without room")) };
        let (element, shape) = match &sum.target {
            Loc::Array(a) => (a.kind.clone(), a.shape.clone()),
            _ => (sum.kind.clone(), Vec::new()),
        };
        let leaves = element.leaves();
        let end = start + buffer_bytes(room, &leaves);
        let id = self.mem_id();
        let builder = self.builder()?;
        builder.kernel.shared_bytes = builder.kernel.shared_bytes.max(end);
        if gathers(&leaves) {
            self.gathered.insert(id);
        }
        let mem = Rc::new(Mem {
            id,
            space: Space::Shared,
            address: Atom::index(start),
            count: Atom::index(room),
            leaves: leaves.into(),
            header: 0,
            interleaved: None,
            read_only: false,
        });
        // whole words, which additions of smaller numbers exchange
        let all = vec![Atom::index(room.next_multiple_of(4))];
        let (first, kind) = (Atom::index(0), element.clone());
        let whole = ArrayLoc {
            mem: mem.clone(),
            first: first.clone(),
            shape: all,
            strides: None,
            kind,
            shared: false,
        };
        self.each_of_table(&Loc::Array(whole), |l, at, _| match Val::zero(&element) {
            Some(zero) => l.store(at, zero),
            None => Err(l.unsupported("a table of arrays")),
        })?;
        let kind = element;
        let table = match shape.is_empty() {
            false => Loc::Array(ArrayLoc { mem, first, shape, strides: None, kind, shared: true }),
            true => Loc::Memory(MemLoc { mem, index: first, leaf: 0, extra: None, kind, shared: true }),
        };
        sum.own = Some(table.clone());
        Ok(table)
    }

    /// Adds the block's tables to what all blocks share.
    pub(super) fn close_tables(&mut self, sums: &[Sum]) -> Outcome<()> {
        let tables: Vec<(&Sum, &Loc)> =
            sums.iter().filter(|s| s.table.is_some()).filter_map(|s| Some((s, s.own.as_ref()?))).collect();
        if tables.is_empty() {
            return Ok(());
        }
        self.builder()?.emit(Inst::Barrier);
        for (sum, table) in tables {
            self.each_of_table(table, |l, at, k| {
                let to = match &sum.target {
                    Loc::Array(a) => l.element(a, k)?,
                    other => other.clone(),
                };
                let value = l.load(at)?;
                l.accumulate(true, &shared(to), value)
            })?;
        }
        Ok(())
    }

    /// Does something with each element of a table: the threads of the block take turns.
    fn each_of_table(
        &mut self,
        table: &Loc,
        body: impl FnOnce(&mut Self, &Loc, &Atom) -> Outcome<()>,
    ) -> Outcome<()> {
        let [thread, threads] = {
            let builder = self.builder()?;
            [Special::ThreadInBlock, Special::BlockSize].map(|what| {
                let to = builder.register(Ty::U32, "");
                builder.emit(Inst::Special { to, what });
                Atom::Reg(to, Ty::U32)
            })
        };
        let thread = self.op(Op::Convert, Ty::U64, &[thread])?;
        let threads = self.op(Op::Convert, Ty::U64, &[threads])?;
        let count = match table {
            Loc::Array(a) => self.count(&a.shape)?,
            _ => Atom::index(1),
        };
        let k = self.variable(&thread, "k")?;
        self.counted(&k, &count, &threads, |l| {
            let at = match table {
                Loc::Array(a) => l.element(a, &k)?,
                other => other.clone(),
            };
            body(l, &at, &k)
        })
    }
}
