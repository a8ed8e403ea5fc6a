//! Storage that isn't in registers: local memory, arrays of run-time size, stacks.

use std::rc::Rc;

use rev_core::error::Cause;
use rev_core::ir::{Place, ScalarType, VarId};

use crate::kernel::{Op, Relation, Space, Ty};
use crate::layout::STACK_HEADER;
use crate::plan::{Buffer, BufferId, Detail, Step, Word};

use super::atom::Atom;
use super::memory::{ArrayLoc, Loc, Mem, MemLoc, StackLoc};
use super::types::ArgumentType;
use super::value::Val;
use super::{Lower, Outcome, Stop};

impl Lower<'_> {
    /// A variable in the thread's local memory.
    pub fn local(&mut self, kind: &ArgumentType) -> Outcome<Loc> {
        let leaves = kind.leaves();
        let id = self.mem_id();
        let builder = self.builder()?;
        let start = builder.kernel.local_bytes.next_multiple_of(8);
        builder.kernel.local_bytes =
            start + leaves.iter().map(|ty| ty.size().next_multiple_of(8)).sum::<usize>();
        let mem = Rc::new(Mem {
            id,
            space: Space::Local,
            address: Atom::index(start),
            count: Atom::index(1),
            leaves: leaves.into(),
            header: 0,
            interleaved: None,
            read_only: false,
        });
        Ok(Loc::Memory(MemLoc {
            mem,
            index: Atom::index(0),
            leaf: 0,
            extra: None,
            kind: kind.clone(),
            shared: false,
        }))
    }

    /// A new buffer of the program's own.
    pub fn new_buffer(&mut self, name: &str, kind: &ArgumentType, rank: usize) -> BufferId {
        let (name, leaves) = (name.to_string(), kind.leaves());
        self.plan.buffers.push(Buffer { name, leaves, rank, stack: false, written: true });
        BufferId(self.plan.buffers.len() as u32 - 1)
    }

    /// The array in a buffer.
    pub fn buffer_array(
        &mut self,
        buffer: BufferId,
        kind: &ArgumentType,
        shape: Vec<Atom>,
    ) -> Outcome<ArrayLoc> {
        let mem = self.buffer_mem(buffer, &shape, None)?;
        Ok(ArrayLoc { mem, first: Atom::index(0), shape, strides: None, kind: kind.clone(), shared: false })
    }

    /// A buffer as memory.
    pub fn buffer_mem(
        &mut self,
        buffer: BufferId,
        shape: &[Atom],
        interleaved: Option<(Atom, Atom)>,
    ) -> Outcome<Rc<Mem>> {
        let id = self.mem_id();
        let count = self.count(shape)?;
        let described = &self.plan.buffers[buffer.0 as usize];
        Ok(Rc::new(Mem {
            id,
            space: Space::Global,
            address: Atom::Buffer(buffer),
            count,
            leaves: described.leaves.clone().into(),
            header: if described.stack { STACK_HEADER } else { 0 },
            interleaved,
            read_only: !described.written,
        }))
    }

    /// The single value in a buffer.
    pub fn buffer_value(&mut self, buffer: BufferId, kind: &ArgumentType) -> Outcome<Loc> {
        let mem = self.buffer_mem(buffer, &[], None)?;
        let index = Atom::index(0);
        Ok(Loc::Memory(MemLoc { mem, index, leaf: 0, extra: None, kind: kind.clone(), shared: false }))
    }

    /// Storage for an array of a thread: its part of a buffer, in which the threads' elements stand
    /// side by side.
    pub fn array_storage(&mut self, name: &str, var: Option<VarId>, value: Val) -> Outcome<Loc> {
        let (kind, shape) = match &value {
            Val::Fill(element, shape) => match element.kind() {
                Some(kind) => (kind, shape.clone()),
                None => return Err(self.unsupported(format!("`{name}`, whose type isn't known,"))),
            },
            Val::Array(a) => (a.kind.clone(), a.shape.clone()),
            _ => return Err(self.unsupported("an array of this value")),
        };
        let array = self.thread_array(var, name, &kind, shape)?;
        let loc = Loc::Array(array);
        self.store(&loc, value)?;
        Ok(loc)
    }

    /// The same without a first value.
    pub fn thread_array(
        &mut self,
        var: Option<VarId>,
        name: &str,
        kind: &ArgumentType,
        shape: Vec<Atom>,
    ) -> Outcome<ArrayLoc> {
        let known = shape.iter().map(Atom::word).collect::<Option<Vec<Word>>>();
        let Some(words) = known.or_else(|| self.largest(var?)) else {
            let what = format!("`{name}`, an array whose length isn't known before the loop runs,");
            return Err(Stop::Unsized(self.located(what)));
        };
        let buffer = self.new_buffer(name, kind, shape.len() + 1);
        let threads = self.scratch.clone();
        let room: Vec<Atom> = words.iter().map(|n| Atom::from_word(n.clone(), Ty::U64)).collect();
        let shape_words = [threads].into_iter().chain(words).collect();
        let (own, all) = self.builder()?.threads();
        self.builder()?.allocations.push(Step::Allocate { buffer, shape: shape_words });
        let full: Vec<Atom> = [all.clone()].into_iter().chain(room).collect();
        let id = self.mem_id();
        // the launch has exactly as many threads as the buffer has room for
        let builder = self.builder()?;
        let mut count = Atom::index(1);
        for n in &full {
            count = builder.early(Op::Mul, Ty::U64, &[count, n.clone()]);
        }
        let mem = Rc::new(Mem {
            id,
            space: Space::Global,
            address: Atom::Buffer(buffer),
            count,
            leaves: kind.leaves().into(),
            header: 0,
            interleaved: Some((all, own)),
            read_only: false,
        });
        Ok(ArrayLoc { mem, first: Atom::index(0), shape, strides: None, kind: kind.clone(), shared: false })
    }

    /// The stack in a buffer.
    pub fn buffer_stack(&mut self, buffer: BufferId, kind: &ArgumentType, capacity: Atom) -> Outcome<Loc> {
        let values = self.buffer_array(buffer, kind, vec![capacity])?;
        let mem = Rc::new(Mem {
            id: self.mem_id(),
            space: Space::Global,
            address: Atom::Buffer(buffer),
            count: Atom::index(1),
            leaves: Rc::new([Ty::U64]),
            header: 0,
            interleaved: None,
            read_only: values.mem.read_only,
        });
        let kind = ArgumentType::Scalar(ScalarType::Usize);
        let count = MemLoc { mem, index: Atom::index(0), leaf: 0, extra: None, kind, shared: false };
        Ok(Loc::Stack(StackLoc { values, count: Box::new(Loc::Memory(count)) }))
    }

    /// A stack of the thread.
    pub fn stack_storage(&mut self, name: &str, kind: Option<ArgumentType>) -> Outcome<Loc> {
        let Some(kind) = kind else {
            return Err(self.unsupported(format!("the stack `{name}`, whose type isn't known,")));
        };
        let capacity = Atom::index(self.options.stack_capacity);
        let values = self.thread_array(None, name, &kind, vec![capacity])?;
        let count = self.variable(&Atom::index(0), &format!("{name}_count"))?;
        Ok(Loc::Stack(StackLoc { values, count: Box::new(Loc::Registers(Val::index(count))) }))
    }

    fn stack_at(&mut self, place: &Place) -> Outcome<StackLoc> {
        match self.locate(place)? {
            Loc::Stack(s) => Ok(s),
            _ => Err(self.unsupported("a push to what isn't a stack")),
        }
    }

    /// Moves a value to a stack.
    pub fn push(&mut self, stack: &Place, place: &Place) -> Outcome<()> {
        let stack_loc = self.stack_at(stack)?;
        let at = self.one_value(place)?;
        let value = self.load(&at)?;
        let value = self.freeze(&value);
        let zero = value.map(&mut |atom| Atom::Const(0, atom.ty()));
        let count = self.load(&stack_loc.count)?;
        let count = self.as_index(count)?;
        let count = self.builder()?.freeze(&count);
        let full = self.compare(Relation::Ge, &count, &stack_loc.values.shape[0])?;
        let capacity = stack_loc.values.shape[0].clone();
        let cause = Cause::StackOverflow { stack: self.text_of(stack).into(), capacity: 0 };
        self.fail_with(&full, cause, vec![(Detail::Length, capacity)])?;
        let to = self.element(&stack_loc.values, &count)?;
        self.store(&to, value)?;
        let next = self.op(Op::Add, Ty::U64, &[count, Atom::index(1)])?;
        self.store(&stack_loc.count, Val::index(next))?;
        self.store(&at, zero)
    }

    /// Moves the top of a stack to a place.
    pub fn pop(&mut self, stack: &Place, place: &Place) -> Outcome<()> {
        let stack_loc = self.stack_at(stack)?;
        let at = self.one_value(place)?;
        if self.asserts() {
            self.check_zero(&at, place)?;
        }
        let count = self.load(&stack_loc.count)?;
        let count = self.as_index(count)?;
        let empty = self.compare(Relation::Eq, &count, &Atom::index(0))?;
        let text = self.text_of(stack);
        self.fail_if(&empty, Cause::StackUnderflow { stack: text.into() })?;
        let next = self.op(Op::Sub, Ty::U64, &[count, Atom::index(1)])?;
        let next = self.builder()?.freeze(&next);
        let from = self.element(&stack_loc.values, &next)?;
        let value = self.load(&from)?;
        self.store(&stack_loc.count, Val::index(next))?;
        self.store(&at, value)
    }

    /// The place of a value on a stack, whose room is known before the program runs.
    fn one_value(&mut self, place: &Place) -> Outcome<Loc> {
        match self.locate(place)? {
            Loc::Array(_) => Err(self.unsupported("a stack of arrays")),
            loc => Ok(loc),
        }
    }
}
