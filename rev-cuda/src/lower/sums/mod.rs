//! What the iterations of a parallel loop add to: which sums there are, where an iteration's terms
//! go, and how they come together.
//!
//! | file | question |
//! | --- | --- |
//! | `choice` | which strategy a sum is given, and why another can't be |
//! | `uniform` | sums in registers, over the lanes of a warp and the warps of a block |
//! | `table` | a table for each block |
//! | `records` | terms of an iteration kept apart, for the one order |
//! | `segments` | terms in memory, added up in the order of an index array |
//! | `tree` | the fixed tree, block by block |
//! | `fold` | the fixed tree inside a thread |

mod choice;
mod fold;
mod records;
mod segments;
mod table;
mod tree;
mod uniform;

use rev_core::check::overlap::Values;
use rev_core::facts::{self, Accumulated, ParallelFacts, PlaceClass};
use rev_core::ir::{Block, Expr, Place, Stmt, VarId};
use rev_core::plan::{common_element, common_index, common_part};

use crate::kernel::Ty;
use crate::measure::Multiplicity;
use crate::plan::{Accumulation, BufferId, Strategy, Word, WordOp};

use super::atom::Atom;
use super::call::kind_of;
use super::loops::Visits;
use super::memory::{ArrayLoc, Loc, MemLoc};
use super::parallel::binary;
use super::types::ArgumentType;
use super::value::Val;
use super::{Lower, Outcome, Redirect};

use choice::fits_registers;
pub(super) use fold::Fold;
pub(super) use records::Records;
use segments::Segments;

/// A parallel loop around which only the host's statements stand.
pub(super) struct ParallelLoop<'a> {
    pub stmt: &'a Stmt,
    pub var: VarId,
    pub visits: &'a Visits,
    /// How many iterations it has,
    pub outer: Word,
    /// the loops inside that are one kernel with it,
    pub inner: &'a [(VarId, Visits, Word)],
    /// and how many iterations there are in all.
    pub n: Word,
    pub body: &'a Block,
    pub facts: &'a ParallelFacts,
    /// Whether its kernel may have barriers: no thread of it ends early.
    pub barriers: bool,
    /// Whether iterations may keep their terms for the one order.
    pub records: bool,
}

/// A sum that the iterations of a loop share.
#[derive(Debug)]
pub(super) struct Sum {
    var: VarId,
    places: Vec<Place>,
    how: Accumulated,
    /// The index of the element that every term of an iteration is added to,
    index: Option<Vec<Expr>>,
    /// and whether that is one element for all iterations.
    one_element: bool,
    /// Whether it is the sum of that element, which is looked up in the target when the sum is known.
    narrowed: bool,
    /// The part of the target that has all elements that are added to, where it isn't known to be all of it.
    part: Option<Place>,
    /// What is added to.
    target: Loc,
    /// Its type, or its element's where only one element or one for each iteration is added to.
    kind: ArgumentType,
    /// How many steps of a place lead to what is added to.
    prefix: usize,
    strategy: Strategy,
    reason: String,
    /// How many terms meet in an element, where that is known.
    met: Option<Multiplicity>,
    /// A thread's own sum, or an iteration's.
    own: Option<Loc>,
    /// The sums of the tree's blocks.
    partial: Option<(BufferId, ArrayLoc)>,
    /// A block's table: its start in shared memory, and its room.
    table: Option<(usize, usize)>,
    segments: Option<Segments>,
    /// Whether its iterations keep their terms apart,
    recorded: bool,
    /// and where.
    kept: Option<BufferId>,
}

impl Sum {
    /// Whether it is added up by the tree.
    pub fn is_tree(&self) -> bool {
        self.strategy == Strategy::Tree
    }

    /// Whether one thread makes all iterations of a block of the tree.
    pub fn is_by_blocks(&self) -> bool {
        self.is_tree() && !self.recorded
    }

    /// Whether its iterations keep their terms apart.
    pub fn is_recorded(&self) -> bool {
        self.recorded
    }

    /// Whether the order of its terms, kept apart, can be that of the tree.
    fn can_be_recorded(&self, of: &ParallelLoop) -> bool {
        let whole = self.strategy == Strategy::Segmented || !matches!(self.target, Loc::Array(_));
        of.records && whole && !self.is_exact() && fits_registers(&self.kind) && gathers(&self.kind.leaves())
    }

    /// Whether it is added up in the order of an index array.
    pub fn is_segmented(&self) -> bool {
        self.strategy == Strategy::Segmented
    }

    /// Whether threads keep something from iteration to iteration.
    pub fn strides(&self) -> bool {
        matches!(self.strategy, Strategy::Uniform | Strategy::BlockTable)
    }

    /// Whether its threads meet at barriers that none of them may miss.
    pub fn needs_barriers(&self) -> bool {
        self.strategy == Strategy::BlockTable
    }

    fn adds(&self) -> bool {
        self.how.sum == facts::Sum::Add
    }

    /// Whether every order of its terms gives the same bits.
    fn is_exact(&self) -> bool {
        !self.adds() || self.kind.leaves().iter().all(|ty| !ty.is_float())
    }

    /// The place of what is added to where it is the same in all iterations.
    fn fixed_place(&self) -> Option<Place> {
        let mut place = self.places.first().or(self.how.sites.first().map(|s| &s.place))?.clone();
        place.path.truncate(self.prefix);
        Some(place)
    }
}

impl Lower<'_> {
    /// The sums of a parallel loop of the host, and how each is added up.
    pub fn sums(&mut self, of: &ParallelLoop) -> Outcome<Vec<Sum>> {
        let mut sums = self.candidates(of.stmt, of.facts)?;
        let mut tables = 0;
        for sum in &mut sums {
            self.choose_strategy(sum, of, &mut tables)?;
        }
        if self.options.deterministic {
            let kept = |s: &Sum| s.can_be_recorded(of);
            let by_blocks = sums.iter().any(|s| s.is_tree() && !kept(s));
            for sum in &mut sums {
                sum.recorded = kept(sum) && (sum.is_segmented() || sum.is_tree() && !by_blocks);
            }
        }
        Ok(sums)
    }

    /// The sums of a parallel loop, each by atomic additions.
    fn candidates(&mut self, stmt: &Stmt, facts: &ParallelFacts) -> Outcome<Vec<Sum>> {
        let mut sums = Vec::new();
        for (var, class) in &facts.classes {
            match class {
                PlaceClass::Parts(parts) => {
                    for (places, class) in parts {
                        self.add_candidate(*var, places.clone(), class, &mut sums)?;
                    }
                }
                class => self.add_candidate(*var, Vec::new(), class, &mut sums)?,
            }
        }
        if let (false, Some(function)) = (sums.is_empty(), &self.frame()?.function) {
            let values = Values::of(function);
            for sum in &mut sums {
                sum.index = common_index(&sum.how.sites, &values);
                sum.one_element = common_element(&sum.how, stmt, facts, &values).is_some();
                sum.part = common_part(&sum.how, stmt, facts, &values);
            }
        }
        Ok(sums)
    }

    fn add_candidate(
        &mut self,
        var: VarId,
        places: Vec<Place>,
        class: &PlaceClass,
        sums: &mut Vec<Sum>,
    ) -> Outcome<()> {
        let PlaceClass::Accumulated(how) = class else { return Ok(()) };
        let outer = places.first().and_then(|p| self.redirected(p));
        let outer = outer.or_else(|| self.redirected(&Place::var(var)));
        let (target, prefix) = match outer {
            Some(outer) => outer,
            None => (self.slot(var)?, 0),
        };
        let Some(kind) = kind_of(&target).filter(|k| !k.leaves().is_empty()) else { return Ok(()) };
        sums.push(Sum {
            var,
            places,
            how: how.clone(),
            index: None,
            one_element: false,
            narrowed: false,
            part: None,
            target,
            kind,
            prefix,
            strategy: Strategy::Atomic,
            reason: String::new(),
            met: None,
            own: None,
            partial: None,
            table: None,
            segments: None,
            recorded: false,
            kept: None,
        });
        Ok(())
    }

    /// Notes how the sums of a kernel are added up.
    pub fn record_sums(&mut self, of: &ParallelLoop, sums: &[Sum], kernel: &str) {
        for (var, class) in &of.facts.classes {
            if let PlaceClass::Owned { declared } = class {
                let reason = if *declared { "declared" } else { "proven" }.to_string();
                self.record(*var, Strategy::Exclusive, reason, kernel);
            }
        }
        for sum in sums {
            self.record(sum.var, sum.strategy, sum.reason.clone(), kernel);
        }
    }

    fn record(&mut self, var: VarId, strategy: Strategy, reason: String, kernel: &str) {
        let place = self.name(var);
        self.plan.accumulations.push(Accumulation { kernel: kernel.to_string(), place, strategy, reason });
    }

    fn redirect(&mut self, sum: &Sum, loc: Loc) -> Outcome<()> {
        let (var, places, prefix) = (sum.var, sum.places.clone(), sum.prefix);
        self.frame_mut()?.redirects.push(Redirect { var, places, prefix, loc });
        Ok(())
    }

    /// Prepares the sums at the start of a kernel; `blocks` where its threads are the tree's blocks.
    pub fn open_sums(&mut self, of: &ParallelLoop, sums: &mut [Sum], blocks: Option<&Word>) -> Outcome<()> {
        let kernel = self.builder()?.kernel.name.clone();
        self.record_sums(of, sums, &kernel);
        self.gathered.clear();
        self.records = Records::default();
        for sum in sums.iter_mut() {
            let loc = match sum.strategy {
                Strategy::Uniform => self.open_uniform(sum)?,
                Strategy::BlockTable => self.open_table(sum)?,
                Strategy::Segmented => self.open_segments(sum, of)?,
                Strategy::Tree if sum.recorded => self.open_blocks(sum, of)?,
                Strategy::Tree => {
                    let blocks = blocks.ok_or_else(|| self.defect("a tree of sums without its blocks"))?;
                    self.open_tree(sum, blocks)?
                }
                Strategy::Exclusive | Strategy::Atomic => {
                    if sum.met == Some(Multiplicity::Many) {
                        self.note_gathered(&sum.target);
                    }
                    shared(sum.target.clone())
                }
            };
            self.redirect(sum, loc)?;
        }
        if sums.iter().any(Sum::needs_barriers) {
            self.builder()?.emit(crate::kernel::Inst::Barrier);
        }
        Ok(())
    }

    /// Before an iteration.
    pub fn begin_iteration(&mut self, sums: &[Sum]) -> Outcome<()> {
        for sum in sums.iter().filter(|s| s.is_segmented() && !s.recorded) {
            if let (Some(own), Some(zero)) = (&sum.own, Val::zero(&sum.kind)) {
                self.store(own, zero)?;
            }
        }
        Ok(())
    }

    /// After the `k`-th iteration.
    pub fn end_iteration(&mut self, of: &ParallelLoop, sums: &[Sum], k: &Atom) -> Outcome<()> {
        sums.iter().try_for_each(|sum| match sum.kept {
            Some(terms) => self.keep_records(sum, terms, &of.n, k),
            None if sum.is_segmented() => self.keep_term(sum, k),
            None => Ok(()),
        })
    }

    /// What the threads of a kernel do with their sums when they have no more iterations.
    pub fn close_sums(&mut self, sums: &[Sum]) -> Outcome<()> {
        self.close_uniform(sums)?;
        self.close_tables(sums)
    }

    /// What other kernels do with the sums afterwards.
    pub fn finish_sums(&mut self, n: &Word, sums: &[Sum]) -> Outcome<()> {
        self.add_blocks(n, sums)?;
        self.add_trees(n, sums)?;
        self.add_segments(n, sums)
    }

    /// The most blocks of a kernel whose threads keep sums: with tables so many that a block's
    /// iterations add to its table at least twice as often as it has elements.
    pub fn most_blocks(&self, of: &ParallelLoop, sums: &[Sum]) -> Word {
        let most = Word::Const(self.options.max_blocks.into());
        sums.iter().filter(|s| s.table.is_some() && !s.how.uniform).fold(most, |most, sum| {
            let Loc::Array(a) = &sum.target else { return most };
            let lengths = a.shape.iter().filter_map(Atom::word);
            let twice = lengths.fold(Word::Const(2), |n, l| binary(WordOp::Mul, n, l));
            let enough = Word::Binary(WordOp::Div, Box::new(of.n.clone()), Box::new(twice));
            binary(WordOp::Min, most, binary(WordOp::Max, enough, Word::Const(1)))
        })
    }

    /// Notes that a whole warp may add to one element of a place at once.
    fn note_gathered(&mut self, target: &Loc) {
        let mem = match target {
            Loc::Memory(m) => &m.mem,
            Loc::Array(a) => &a.mem,
            Loc::Value(_) | Loc::Registers(_) | Loc::Choice(..) | Loc::Stack(_) => return,
        };
        if gathers(&mem.leaves) {
            self.gathered.insert(mem.id);
        }
    }

    fn zero_registers(&mut self, kind: &ArgumentType) -> Outcome<Loc> {
        let Some(zero) = Val::zero(kind) else { return Err(self.unsupported("a sum of arrays")) };
        let builder = self.builder()?;
        Ok(Loc::Registers(zero.map(&mut |atom| builder.variable(atom, "sum"))))
    }
}

/// Whether lanes add numbers up before one of them adds the sum to memory: additions of integers there are
/// one instruction, those of floats in shared memory are loops.
fn gathers(leaves: &[Ty]) -> bool {
    leaves.iter().all(|ty| matches!(ty, Ty::F32 | Ty::F64))
}

/// The same place, with additions that don't interfere with other threads'.
fn shared(loc: Loc) -> Loc {
    match loc {
        Loc::Memory(m) => Loc::Memory(MemLoc { shared: true, ..m }),
        Loc::Array(a) => Loc::Array(ArrayLoc { shared: true, ..a }),
        Loc::Choice(locs, which) => Loc::Choice(locs.into_iter().map(shared).collect(), which),
        loc @ (Loc::Value(_) | Loc::Registers(_) | Loc::Stack(_)) => loc,
    }
}
