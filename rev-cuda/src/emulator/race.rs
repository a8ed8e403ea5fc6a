//! The search for races: two accesses to one place by different threads, one of them a write, with
//! no barrier between them, unless both are atomic.
//!
//! Two threads of a block are ordered by the block's barriers: every access is stamped with the
//! number of barriers (counted through the launch) before it. Threads of different blocks aren't
//! ordered at all until the kernel ends: what one block hands to another through a fence and an
//! atomic operation must be accessed by operations that are themselves strong (`.relaxed`,
//! `.volatile`, atomic). Barriers of a part of a block or of a warp order nothing here.
//!
//! A word of four bytes has a cell; the first access to a part of it splits it into cells for its
//! bytes. A cell keeps its last write, and of its readers and its atomic operations two of the
//! running block and one of an earlier block: blocks run one after another, so that these find every
//! conflict (a barrier orders all earlier accesses of the running block).

use std::collections::HashMap;

/// Bytes in a page of cells.
const PAGE_BYTES: usize = 1024;
const WORDS: usize = PAGE_BYTES / 4;

/// Who touches memory.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Actor {
    /// Counted through the grid.
    pub thread: u32,
    /// The threads of its block.
    pub block: (u32, u32),
    /// Barriers and blocks so far.
    pub phase: u32,
    /// The instruction.
    pub inst: u32,
    /// The launch.
    pub launch: u32,
}

/// What is done.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Deed {
    Read,
    Write,
    /// Also strong reads and writes; whether the scope is only the block.
    Atomic {
        block: bool,
    },
}

/// What was done before, and who did it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Conflict {
    pub thread: u32,
    pub inst: u32,
    pub deed: Deed,
}

#[derive(Clone, Copy, Debug, Default)]
struct Stamp {
    /// One more than the thread; 0: nobody.
    thread: u32,
    phase: u32,
    inst: u32,
    block_scope: bool,
}

impl Stamp {
    #[inline(always)]
    fn of(actor: &Actor) -> Stamp {
        Stamp { thread: actor.thread + 1, phase: actor.phase, inst: actor.inst, block_scope: false }
    }

    #[inline(always)]
    fn in_block(self, actor: &Actor) -> bool {
        (actor.block.0..actor.block.1).contains(&self.thread.wrapping_sub(1))
    }

    /// Whether this access and the actor's aren't ordered.
    #[inline(always)]
    fn concurrent(self, actor: &Actor) -> bool {
        self.thread != 0
            && self.thread != actor.thread + 1
            && !(self.in_block(actor) && self.phase < actor.phase)
    }
}

/// Accesses that may be concurrent with one another.
#[derive(Clone, Copy, Debug, Default)]
struct Crowd {
    own: [Stamp; 2],
    other: Stamp,
}

impl Crowd {
    #[inline(always)]
    fn note(&mut self, stamp: Stamp, actor: &Actor) {
        let [first, second] = &mut self.own;
        if first.thread != 0 && !first.in_block(actor) {
            self.other = *first;
            (*first, *second) = (stamp, Stamp::default());
        } else if first.thread == 0 || first.phase < stamp.phase {
            (*first, *second) = (stamp, Stamp::default());
        } else if first.thread == stamp.thread {
            *first = stamp;
        } else {
            *second = stamp;
        }
    }

    #[inline(always)]
    fn concurrent(&self, actor: &Actor) -> Option<Stamp> {
        if self.own[0].thread == 0 {
            return None;
        }
        let [first, second] = self.own;
        if first.concurrent(actor) {
            Some(first)
        } else if second.concurrent(actor) {
            Some(second)
        } else {
            self.other.concurrent(actor).then_some(self.other)
        }
    }
}

#[derive(Clone, Copy, Debug, Default)]
struct Cell {
    write: Stamp,
    readers: Crowd,
    /// One more than an index into the page's crowds.
    atomics: u32,
    /// One more than an index into the page's split words.
    parts: u32,
}

#[derive(Debug)]
struct Page {
    launch: u32,
    cells: Box<[Cell; WORDS]>,
    crowds: Vec<Crowd>,
    parts: Vec<[Cell; 4]>,
}

impl Page {
    fn new(launch: u32) -> Page {
        Page { launch, cells: Box::new([Cell::default(); WORDS]), crowds: Vec::new(), parts: Vec::new() }
    }
}

/// What is known of the accesses to a piece of memory in a launch.
#[derive(Debug, Default)]
pub(crate) struct Shadow {
    pages: HashMap<usize, usize>,
    store: Vec<Page>,
    last: Option<(usize, usize)>,
}

impl Shadow {
    /// Forgets everything.
    pub fn clear(&mut self) {
        self.pages.clear();
        self.store.clear();
        self.last = None;
    }

    /// Notes an access of up to 16 bytes, aligned to its size, and says what it conflicts with.
    #[inline(always)]
    pub fn access(&mut self, at: usize, bytes: usize, deed: Deed, actor: &Actor) -> Result<(), Conflict> {
        let page = self.page(at / PAGE_BYTES, actor.launch);
        let first = at % PAGE_BYTES;
        let mut done = 0;
        while done < bytes {
            let word = (first + done) / 4;
            if bytes >= 4 && page.cells[word].parts == 0 {
                visit(&mut page.cells[word], &mut page.crowds, deed, actor)?;
                done += 4;
                continue;
            }
            let part = split(page, word);
            visit(&mut page.parts[part][(first + done) % 4], &mut page.crowds, deed, actor)?;
            done += 1;
        }
        Ok(())
    }

    #[inline(always)]
    fn page(&mut self, number: usize, launch: u32) -> &mut Page {
        let index = match self.last {
            Some((n, index)) if n == number => index,
            _ => self.find(number, launch),
        };
        self.last = Some((number, index));
        let page = &mut self.store[index];
        if page.launch != launch {
            *page = Page::new(launch);
        }
        page
    }

    #[cold]
    fn find(&mut self, number: usize, launch: u32) -> usize {
        let store = &mut self.store;
        *self.pages.entry(number).or_insert_with(|| {
            store.push(Page::new(launch));
            store.len() - 1
        })
    }
}

/// The cells of a word's bytes.
fn split(page: &mut Page, word: usize) -> usize {
    let cell = &mut page.cells[word];
    if cell.parts == 0 {
        page.parts.push([*cell; 4]);
        cell.parts = page.parts.len() as u32;
        // Crowds aren't shared between the bytes.
        if cell.atomics != 0 {
            let crowd = page.crowds[cell.atomics as usize - 1];
            let parts = page.parts.len() - 1;
            for part in &mut page.parts[parts] {
                page.crowds.push(crowd);
                part.atomics = page.crowds.len() as u32;
            }
        }
    }
    cell.parts as usize - 1
}

#[inline(always)]
fn visit(cell: &mut Cell, crowds: &mut Vec<Crowd>, deed: Deed, actor: &Actor) -> Result<(), Conflict> {
    let conflict = |s: Stamp, deed| Err(Conflict { thread: s.thread - 1, inst: s.inst, deed });
    if cell.write.concurrent(actor) {
        return conflict(cell.write, Deed::Write);
    }
    if deed != Deed::Read {
        if let Some(reader) = cell.readers.concurrent(actor) {
            return conflict(reader, Deed::Read);
        }
    }
    let mut stamp = Stamp::of(actor);
    let atomics = (cell.atomics != 0).then(|| &mut crowds[cell.atomics as usize - 1]);
    if let Some(found) = atomics.as_ref().and_then(|a| a.concurrent(actor)) {
        let narrow = |b: bool| (b || found.block_scope) && !found.in_block(actor);
        if !matches!(deed, Deed::Atomic { block } if !narrow(block)) {
            return conflict(found, Deed::Atomic { block: found.block_scope });
        }
    }
    match (deed, atomics) {
        (Deed::Read, _) => cell.readers.note(stamp, actor),
        (Deed::Write, atomics) => {
            cell.write = stamp;
            cell.readers = Crowd::default();
            if let Some(crowd) = atomics {
                *crowd = Crowd::default();
            }
        }
        (Deed::Atomic { block }, Some(crowd)) => {
            stamp.block_scope = block;
            crowd.note(stamp, actor);
        }
        (Deed::Atomic { block }, None) => {
            stamp.block_scope = block;
            crowds.push(Crowd { own: [stamp, Stamp::default()], other: Stamp::default() });
            cell.atomics = crowds.len() as u32;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    const ATOMIC: Deed = Deed::Atomic { block: false };

    /// Thread, phase: blocks of 100 threads.
    fn actor(thread: u32, phase: u32) -> Actor {
        let first = thread / 100 * 100;
        Actor { thread, block: (first, first + 100), phase, inst: thread, launch: 1 }
    }

    fn run(steps: &[(u32, u32, Deed, usize, usize)]) -> Option<(usize, u32)> {
        let mut shadow = Shadow::default();
        steps.iter().enumerate().find_map(|(n, (thread, phase, deed, at, bytes))| {
            shadow.access(*at, *bytes, *deed, &actor(*thread, *phase)).err().map(|c| (n, c.thread))
        })
    }

    #[test]
    fn one_thread_may_do_anything() {
        let steps = [Deed::Write, Deed::Read, ATOMIC, Deed::Read, Deed::Write].map(|d| (3, 0, d, 8, 8));
        assert_eq!(run(&steps), None);
    }

    #[test]
    fn a_barrier_orders_a_block_but_not_two() {
        use Deed::{Read, Write};
        assert_eq!(run(&[(1, 0, Write, 0, 8), (2, 0, Write, 4, 4)]), Some((1, 1)));
        assert_eq!(run(&[(1, 0, Write, 0, 4), (2, 1, Read, 0, 4), (3, 1, Read, 0, 4)]), None);
        assert_eq!(run(&[(1, 0, Write, 0, 4), (100, 9, Read, 0, 4)]), Some((1, 1)));
        assert_eq!(run(&[(1, 0, Read, 0, 4), (2, 0, Read, 0, 4), (1, 0, Write, 0, 4)]), Some((2, 2)));
        assert_eq!(run(&[(1, 0, Read, 0, 4), (2, 0, Read, 0, 4), (1, 1, Write, 0, 4)]), None);
        // Block 0 reads; many of block 1 read, pass a barrier, and one writes.
        let mut steps = vec![(1, 0, Read, 0, 4)];
        steps.extend((100..110).map(|t| (t, 5, Read, 0, 4)));
        steps.push((100, 6, Write, 0, 4));
        assert_eq!(run(&steps), Some((11, 1)));
    }

    #[test]
    fn atomics_agree_with_one_another_only() {
        assert_eq!(run(&[(1, 0, ATOMIC, 0, 4), (2, 0, ATOMIC, 0, 4), (100, 3, ATOMIC, 0, 4)]), None);
        assert_eq!(run(&[(1, 0, ATOMIC, 0, 4), (2, 0, Deed::Read, 0, 4)]), Some((1, 1)));
        assert_eq!(run(&[(1, 0, Deed::Read, 0, 4), (2, 0, ATOMIC, 0, 4)]), Some((1, 1)));
        assert_eq!(run(&[(1, 0, ATOMIC, 0, 4), (2, 1, Deed::Read, 0, 4), (2, 1, Deed::Write, 0, 4)]), None);
        let narrow = Deed::Atomic { block: true };
        assert_eq!(run(&[(1, 0, narrow, 0, 4), (2, 0, ATOMIC, 0, 4)]), None);
        assert_eq!(run(&[(1, 0, narrow, 0, 4), (100, 1, ATOMIC, 0, 4)]), Some((1, 1)));
    }

    #[test]
    fn bytes_of_a_word_are_apart() {
        use Deed::{Read, Write};
        assert_eq!(run(&[(1, 0, Write, 0, 1), (2, 0, Write, 1, 1), (3, 0, Write, 2, 2)]), None);
        assert_eq!(run(&[(1, 0, Write, 3, 1), (2, 0, Read, 0, 8)]), Some((1, 1)));
        assert_eq!(run(&[(1, 0, Write, 4, 4), (2, 0, Read, 6, 1)]), Some((1, 1)));
        assert_eq!(run(&[(1, 0, ATOMIC, 4, 4), (2, 0, Read, 6, 1)]), Some((1, 1)));
    }

    #[test]
    fn a_launch_is_ordered_after_the_one_before() {
        let mut shadow = Shadow::default();
        let later = Actor { launch: 2, ..actor(2, 0) };
        assert_eq!(shadow.access(0, 4, Deed::Write, &actor(1, 0)), Ok(()));
        assert_eq!(shadow.access(0, 4, Deed::Write, &later), Ok(()));
    }
}
