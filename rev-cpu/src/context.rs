//! What a run carries from call to call: whether checks are made, the tolerances, the threads.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::num::NonZeroUsize;
use std::sync::{Mutex, OnceLock, PoisonError};

use rayon::{Scope, ThreadPool};
use rev_core::error::{Cause, Error};
use rev_core::lanes::Level;
use rev_core::tolerance::{Lanes, Options, Tolerances};

use crate::lanes::{best, runs};

/// What a program does: a type, so that one which does less has no trace of the rest.
pub trait Mode: Copy + Send + Sync + 'static {
    /// Whether an adjoint restores the state before the function, besides its shadows.
    const RESTORES: bool;
}

/// Everything is done.
#[derive(Clone, Copy, Debug)]
pub struct Restoring;

/// Of an adjoint only the shadows are wanted.
#[derive(Clone, Copy, Debug)]
pub struct Forgetful;

impl Mode for Restoring {
    const RESTORES: bool = true;
}

impl Mode for Forgetful {
    const RESTORES: bool = false;
}

/// The number of cotangents that an adjoint carries side by side, as an argument.
#[derive(Clone, Copy, Debug)]
pub struct Width<const N: usize>;

/// The options of a run, with the pool of its threads once a parallel loop needs one.
pub struct Run<'o> {
    options: &'o Options,
    pool: OnceLock<Option<&'static ThreadPool>>,
}

impl<'o> Run<'o> {
    /// A run with options. Without a number of threads it has as many as rayon has for the calling thread: those of
    /// the pool that this belongs to, else of the global one (`RAYON_NUM_THREADS`). A thread that belongs to none
    /// works together with a pool of one thread less, which all runs with this number share. When the
    /// system can't start the threads the run uses the calling thread alone.
    #[inline]
    pub fn new(options: &'o Options) -> Run<'o> {
        Run { options, pool: OnceLock::new() }
    }

    /// The context of a program of this run.
    #[inline]
    pub fn context<C: Mode>(&self) -> Context<'_, C> {
        let Options { depth, checks, .. } = *self.options;
        Context {
            run: self,
            workers: None,
            depth: depth.max(1),
            checks,
            by_reference: false,
            mode: PhantomData,
        }
    }

    fn workers(&self) -> usize {
        match self.options.threads {
            None if rayon::current_thread_index().is_some() => rayon::current_num_threads(),
            _ => self.pool().map_or(1, |pool| pool.current_num_threads() + 1),
        }
    }

    /// The threads beside the calling one, where they aren't those of its own pool.
    fn pool(&self) -> Option<&'static ThreadPool> {
        let own = || match self.options.threads {
            None if rayon::current_thread_index().is_some() => None,
            None => pool(rayon::current_num_threads().saturating_sub(1)),
            Some(n) => pool(n.saturating_sub(1)),
        };
        *self.pool.get_or_init(own)
    }
}

/// The pool of `n` threads, if that are any. Threads are costly to start, so pools are kept for good: a run has
/// nothing to give back then, which a program of a few instructions would notice.
fn pool(n: usize) -> Option<&'static ThreadPool> {
    if n == 0 {
        return None;
    }
    static POOLS: Mutex<BTreeMap<usize, &'static ThreadPool>> = Mutex::new(BTreeMap::new());
    let mut pools = POOLS.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(pool) = pools.get(&n) {
        return Some(pool);
    }
    let threads = rayon::ThreadPoolBuilder::new().num_threads(n).stack_size(crate::recursion::OF_THREADS);
    let pool = Box::leak(Box::new(threads.build().ok()?));
    pools.insert(n, pool);
    Some(pool)
}

/// The context that programs pass to each other.
pub struct Context<'a, C> {
    run: &'a Run<'a>,
    /// `None` until the first parallel loop: all of the run's.
    workers: Option<NonZeroUsize>,
    /// How many more calls of recursive functions may be inside each other.
    depth: usize,
    /// Whether reversibility is checked: beside the state, so that the compiler sees that it stays.
    checks: bool,
    /// Whether recursions run by reference, since one by value couldn't go on.
    by_reference: bool,
    mode: PhantomData<C>,
}

impl<C> Copy for Context<'_, C> {}
impl<C> Clone for Context<'_, C> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<'a, C> Context<'a, C> {
    /// Whether reversibility is checked.
    #[cfg_attr(optimized, inline(always))]
    pub fn checks(self) -> bool {
        self.checks
    }

    /// The same without checks.
    #[cfg_attr(optimized, inline(always))]
    pub fn unchecked(self) -> Self {
        Context { checks: false, ..self }
    }

    /// The same for an adjoint whose restored state nobody reads.
    #[cfg_attr(optimized, inline(always))]
    pub fn forgetful(self) -> Context<'a, Forgetful> {
        let Context { run, workers, depth, checks, by_reference, mode: _ } = self;
        Context { run, workers, depth, checks, by_reference, mode: PhantomData }
    }

    /// The same for a program whose state is read.
    #[cfg_attr(optimized, inline(always))]
    pub fn restoring(self) -> Context<'a, Restoring> {
        let Context { run, workers, depth, checks, by_reference, mode: _ } = self;
        Context { run, workers, depth, checks, by_reference, mode: PhantomData }
    }

    /// The same with fewer threads: what a task of a parallel loop has left for loops inside it.
    pub fn with_workers(self, workers: usize) -> Self {
        Context { workers: NonZeroUsize::new(workers.max(1)), ..self }
    }

    /// How many threads a loop may use here.
    #[inline]
    pub fn workers(self) -> usize {
        self.workers.map_or_else(|| self.run.workers(), NonZeroUsize::get)
    }

    /// Whether recursions run by reference.
    #[cfg_attr(optimized, inline(always))]
    pub fn is_by_reference(self) -> bool {
        self.by_reference
    }

    /// The same for a recursion that couldn't go on by value.
    #[cfg_attr(optimized, inline(always))]
    pub fn by_reference(self) -> Self {
        Context { by_reference: true, ..self }
    }

    /// How many more calls of recursive functions may be inside each other.
    #[inline]
    pub fn depth(self) -> usize {
        self.depth
    }

    /// The context inside a call of a recursive function.
    ///
    /// # Errors
    ///
    /// When there are as many inside each other as there may be.
    #[inline]
    pub fn deeper(self) -> Result<Self, Error> {
        match self.depth.checked_sub(1) {
            Some(depth) => Ok(Context { depth, ..self }),
            None => Err(self.too_deep()),
        }
    }

    /// That a recursion is deeper than it may be.
    #[cold]
    pub fn too_deep(self) -> Error {
        Error::new(Cause::Depth { limit: self.run.options.depth.max(1) })
    }

    /// Whether sums have the order of [`rev_core::tree`].
    #[inline]
    pub fn deterministic(self) -> bool {
        self.run.options.deterministic
    }

    /// The work from which on a loop is worth several threads.
    #[inline]
    pub fn parallel_from(self) -> usize {
        self.run.options.parallel_from
    }

    /// The instruction set that parallel loops run in lanes on, if they do.
    #[cfg_attr(optimized, inline(always))]
    pub fn lanes(self) -> Option<Level> {
        match self.run.options.lanes {
            Lanes::Off => None,
            Lanes::Best => best(),
            Lanes::Only(level) => Some(level).filter(|level| runs(*level)),
        }
    }

    /// How far checked values may be off.
    #[inline]
    pub fn tolerances(self) -> &'a Tolerances {
        &self.run.options.tolerances
    }

    /// Calls both at once: the first on the calling thread, the second on another one of the run's.
    pub fn join(self, here: &mut dyn FnMut(), there: &mut (dyn FnMut() + Send)) {
        self.beside(here, Some(there));
    }

    /// Makes all calls at once: the first on the calling thread, the others on others of the run's.
    pub fn at_once<F: FnOnce() + Send>(self, calls: impl IntoIterator<Item = F>) {
        let mut calls = calls.into_iter();
        match (calls.next(), calls.next()) {
            (Some(first), None) => first(),
            (Some(first), second) => self.beside(first, second.into_iter().chain(calls)),
            (None, _) => {}
        }
    }

    /// The calling thread does its part itself: it needn't be woken for that, and what it has in its caches is
    /// of use.
    fn beside<F: FnOnce() + Send>(self, here: impl FnOnce(), others: impl IntoIterator<Item = F>) {
        fn spawned<'s, F: FnOnce() + Send + 's>(
            here: impl FnOnce(),
            others: impl IntoIterator<Item = F>,
        ) -> impl FnOnce(&Scope<'s>) {
            move |scope| {
                others.into_iter().for_each(|other| scope.spawn(|_| other()));
                here();
            }
        }
        match self.run.pool() {
            Some(pool) => pool.in_place_scope(spawned(here, others)),
            None => rayon::in_place_scope(spawned(here, others)),
        }
    }
}
