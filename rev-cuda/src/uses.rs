//! What a program does with the memory of its buffers: what no kernel is given needn't be on the device, and
//! what no kernel stores to needn't be copied back, whatever the program's parameters say.

use std::collections::{BTreeSet, HashMap};

use crate::kernel::{Address, Inst, Kernel, Operand, Reg, Space};
use crate::plan::{BufferId, KernelArg, Program, Step};

/// What is done with a buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Use {
    /// A kernel is given its address, or something else reads or writes it.
    pub touched: bool,
    /// It may be written.
    pub stored: bool,
}

/// What is done with each buffer of a program.
pub fn uses(program: &Program) -> Vec<Use> {
    let stored: Vec<Vec<bool>> = program.kernels.iter().map(stored_through).collect();
    let mut uses = vec![Use::default(); program.buffers.len()];
    walk(&program.steps, &stored, &mut |buffer, stored| {
        if let Some(found) = uses.get_mut(buffer.0 as usize) {
            *found = Use { touched: true, stored: found.stored || stored };
        }
    });
    uses
}

fn walk(steps: &[Step], stored: &[Vec<bool>], touch: &mut dyn FnMut(BufferId, bool)) {
    for step in steps {
        match step {
            Step::Allocate { buffer, shape: _ } | Step::Clear { buffer } => touch(*buffer, true),
            Step::Launch { kernel, args, threads: _, max_blocks: _ } => {
                for (k, arg) in args.iter().enumerate() {
                    if let KernelArg::Buffer(buffer) = arg {
                        let known = stored.get(*kernel).and_then(|params| params.get(k));
                        touch(*buffer, known.copied().unwrap_or(true));
                    }
                }
            }
            Step::Products { products, otherwise, forced: _ } => {
                for product in products {
                    product.factors.iter().for_each(|m| touch(m.buffer, false));
                    touch(product.target.buffer, true);
                }
                walk(otherwise, stored, touch);
            }
            Step::Read { word: _, buffer } => touch(*buffer, false),
            Step::Set { .. } | Step::Fail { .. } => {}
            Step::If { cond: _, then, otherwise } => {
                walk(then, stored, touch);
                walk(otherwise, stored, touch);
            }
            Step::Loop { before, cond: _, body } => {
                walk(before, stored, touch);
                walk(body, stored, touch);
            }
            Step::Order(order) => {
                touch(order.index, false);
                let made = [order.order, order.starts, order.blocks, order.groups_of, order.places];
                made.into_iter().for_each(|b| touch(b, true));
            }
        }
    }
}

/// For each parameter of a kernel, whether it may store to an address that is made from it.
fn stored_through(kernel: &Kernel) -> Vec<bool> {
    let mut from = Origins::default();
    for (k, param) in kernel.params.iter().enumerate() {
        from.of.entry(param.register).or_default().insert(k);
    }
    loop {
        from.grown = false;
        from.follow(&kernel.body);
        if !from.grown {
            break;
        }
    }
    let mut stored = vec![false; kernel.params.len()];
    from.stores(&kernel.body, &mut stored);
    stored
}

/// From which parameters registers are computed. Addresses aren't kept in memory.
#[derive(Default)]
struct Origins {
    of: HashMap<Reg, BTreeSet<usize>>,
    grown: bool,
}

impl Origins {
    fn flow<'a>(&mut self, to: Reg, args: impl IntoIterator<Item = &'a Operand>) {
        for arg in args {
            let Operand::Reg(arg) = arg else { continue };
            let Some(origins) = self.of.get(arg).cloned() else { continue };
            let known = self.of.entry(to).or_default();
            let before = known.len();
            known.extend(origins);
            self.grown |= known.len() > before;
        }
    }

    fn follow(&mut self, body: &[Inst]) {
        for inst in body {
            match inst {
                Inst::Op { to, op: _, args } => self.flow(*to, args),
                Inst::Shuffle { to, value, mask: _ } => self.flow(*to, [value]),
                Inst::If { cond: _, then, otherwise } => {
                    self.follow(then);
                    self.follow(otherwise);
                }
                Inst::Loop { before, cond: _, body } => {
                    self.follow(before);
                    self.follow(body);
                }
                Inst::Quotients { .. }
                | Inst::Special { .. }
                | Inst::Load { .. }
                | Inst::Store { .. }
                | Inst::Reduce { .. }
                | Inst::Fetch { .. }
                | Inst::Gathered { .. }
                | Inst::Barrier
                | Inst::Fail { .. }
                | Inst::Comment { .. } => {}
            }
        }
    }

    fn stores(&self, body: &[Inst], stored: &mut [bool]) {
        for inst in body {
            match inst {
                Inst::Store { to, .. } | Inst::Reduce { to, .. } | Inst::Fetch { to, .. } => {
                    self.store(to, stored);
                }
                Inst::If { cond: _, then, otherwise } => {
                    self.stores(then, stored);
                    self.stores(otherwise, stored);
                }
                Inst::Loop { before, cond: _, body } => {
                    self.stores(before, stored);
                    self.stores(body, stored);
                }
                Inst::Op { .. }
                | Inst::Quotients { .. }
                | Inst::Special { .. }
                | Inst::Load { .. }
                | Inst::Shuffle { .. }
                | Inst::Gathered { .. }
                | Inst::Barrier
                | Inst::Fail { .. }
                | Inst::Comment { .. } => {}
            }
        }
    }

    fn store(&self, to: &Address, stored: &mut [bool]) {
        if to.space != Space::Global {
            return;
        }
        let origins = match to.base {
            Operand::Reg(base) => self.of.get(&base),
            Operand::Const(..) => None,
        };
        match origins {
            Some(origins) => origins.iter().for_each(|k| stored[*k] = true),
            None => stored.fill(true),
        }
    }
}
