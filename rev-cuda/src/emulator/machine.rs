//! A launch: blocks one after another, the warps of a block in turns.
//!
//! A warp runs until all its lanes have left or wait. When no warp of the block can go on, barriers
//! that have all their threads let them go; if there are none, the block is stuck and that is an
//! error.

use super::code::{Code, Inst, LANES};
use super::memory::{Bytes, Memory};
use super::race::{Actor, Shadow};
use super::traffic::Traffic;
use super::warp::{Fault, Waiting, Warp};

/// How a kernel is started.
pub(crate) struct Launch<'a> {
    pub code: &'a Code,
    pub params: Vec<u8>,
    pub grid: u32,
    pub block: u32,
    /// Numbers the launches of a device.
    pub number: u32,
    pub races: bool,
    /// Below sm_70.
    pub together: bool,
    /// How many instructions the warps may execute, all of them together.
    pub steps: u64,
}

/// What went wrong, and where.
#[derive(Debug)]
pub(crate) struct Failed {
    /// The instruction.
    pub pc: u32,
    /// The thread, counted through the grid.
    pub thread: u32,
    pub message: String,
}

/// A running launch.
pub(crate) struct Machine<'a> {
    pub launch: &'a Launch<'a>,
    pub code: &'a Code,
    pub memory: &'a mut Memory,
    pub shared: Bytes,
    pub shadow: Shadow,
    pub block: u32,
    pub phase: u32,
    pub steps: u64,
    pub traffic: Traffic,
}

/// Runs a kernel.
pub(crate) fn run(launch: &Launch<'_>, memory: &mut Memory) -> Result<(u64, Traffic), Failed> {
    let code = launch.code;
    let mut machine = Machine {
        launch,
        code,
        memory,
        shared: Bytes::new(code.shared_bytes),
        shadow: Shadow::default(),
        block: 0,
        phase: 0,
        steps: 0,
        traffic: Traffic::default(),
    };
    let mut warps: Vec<Warp> = (0..launch.block)
        .step_by(LANES)
        .map(|first| Warp::new(code, first, u32::MAX >> (LANES as u32 - (launch.block - first).min(32))))
        .collect();
    for block in 0..launch.grid {
        machine.block = block;
        machine.phase += 1;
        machine.shared.forget();
        machine.shadow.clear();
        warps.iter_mut().for_each(Warp::restart);
        machine.run_block(&mut warps)?;
    }
    Ok((machine.steps, machine.traffic))
}

impl Machine<'_> {
    fn run_block(&mut self, warps: &mut [Warp]) -> Result<(), Failed> {
        loop {
            for warp in warps.iter_mut() {
                self.run_warp(warp).map_err(|fault| self.failed(warp, warp.pc, *fault))?;
            }
            if warps.iter().all(|w| w.exited == w.lanes) {
                return Ok(());
            }
            self.release(warps)?;
        }
    }

    fn failed(&self, warp: &Warp, pc: u32, fault: Fault) -> Failed {
        Failed { pc, thread: self.thread(warp, fault.lane), message: fault.message }
    }

    /// A thread counted through the grid.
    pub fn thread(&self, warp: &Warp, lane: usize) -> u32 {
        self.block * self.launch.block + warp.first + lane as u32
    }

    /// Who a lane is in the search for races.
    #[inline(always)]
    pub fn actor(&self, warp: &Warp, lane: usize) -> Actor {
        let first = self.block * self.launch.block;
        Actor {
            thread: first + warp.first + lane as u32,
            block: (first, first + self.launch.block),
            phase: self.phase,
            inst: warp.pc,
            launch: self.launch.number,
        }
    }

    fn run_warp(&mut self, warp: &mut Warp) -> Result<(), Box<Fault>> {
        let code = self.code;
        while warp.choose() {
            self.steps += 1;
            let Some(inst) = code.insts.get(warp.pc as usize) else {
                return Err(Fault::first(warp.active, "runs past the end of the kernel"));
            };
            if self.steps > self.launch.steps {
                let limit = self.launch.steps;
                return Err(Fault::first(
                    warp.active,
                    format!("the kernel isn't done after {limit} instructions"),
                ));
            }
            let lanes = match inst.guard {
                None => warp.active,
                Some(guard) => warp.condition(code, guard, warp.active)?,
            };
            if lanes == 0 {
                warp.pc += 1;
            } else {
                self.execute(warp, inst, lanes)?;
            }
        }
        Ok(())
    }

    /// Lets threads go on that wait for nobody any more.
    fn release(&mut self, warps: &mut [Warp]) -> Result<(), Failed> {
        let mut released = false;
        for warp in warps.iter_mut() {
            match warp.release_arrived(self.code) {
                Ok(found) => released |= found,
                Err(fault) => return Err(self.failed(warp, warp.pc, *fault)),
            }
        }
        let ids: Vec<Waiting> = warps.iter().flat_map(|w| w.waiting.iter().copied()).collect();
        for waiting in &ids {
            released |= self.release_barrier(warps, waiting)?;
        }
        if released {
            return Ok(());
        }
        Err(self.stuck(warps))
    }

    fn release_barrier(&mut self, warps: &mut [Warp], barrier: &Waiting) -> Result<bool, Failed> {
        let here = |w: &Warp| -> u32 {
            w.waiting.iter().filter(|x| x.id == barrier.id).map(|x| x.lanes.count_ones()).sum()
        };
        let arrived: u32 = warps.iter().map(here).sum();
        if arrived != barrier.count.unwrap_or(self.launch.block) {
            return Ok(false);
        }
        for warp in warps.iter_mut() {
            self.check_aligned(warp, barrier.id)?;
            let (go, stay) = warp.waiting.iter().partition::<Vec<Waiting>, _>(|x| x.id == barrier.id);
            warp.waiting = stay;
            for x in go {
                warp.park(x.pc + 1, x.lanes);
            }
        }
        self.phase += u32::from(arrived == self.launch.block);
        Ok(true)
    }

    /// The threads of a warp must wait at one and the same aligned barrier.
    fn check_aligned(&self, warp: &Warp, id: u32) -> Result<(), Failed> {
        let mut here = warp.waiting.iter().filter(|x| x.id == id);
        let Some(first) = here.next() else { return Ok(()) };
        match here.find(|x| x.pc != first.pc && (x.aligned || first.aligned)) {
            None => Ok(()),
            Some(other) => {
                let line = self.line(other.pc);
                let message = format!("other threads of the warp are at another barrier, in line {line}");
                Err(self.failed(warp, first.pc, *Fault::first(first.lanes, message)))
            }
        }
    }

    fn line(&self, pc: u32) -> u32 {
        self.code.insts.get(pc as usize).map_or(0, |i: &Inst| i.line)
    }

    /// Why nothing goes on: a thread that waits, and one that it waits for.
    fn stuck(&self, warps: &[Warp]) -> Failed {
        for warp in warps {
            if let Some(a) = warp.arrived.first() {
                let missing = warp.living(a.members) & !a.lanes;
                let lane = missing.trailing_zeros() as usize % LANES;
                let message = format!(
                    "waits for thread {}, which {}",
                    self.describe(self.thread(warp, lane)),
                    self.whereabouts(warp, lane)
                );
                return self.failed(warp, a.pc, *Fault::first(a.lanes, message));
            }
        }
        let found = warps.iter().find_map(|w| w.waiting.first().map(|x| (w, *x)));
        let Some((warp, barrier)) = found else {
            return Failed { pc: 0, thread: 0, message: "the block is stuck".into() };
        };
        let absent = warps.iter().find_map(|w| {
            let here = w.waiting.iter().filter(|x| x.id == barrier.id).fold(0, |m, x| m | x.lanes);
            let lane = (w.lanes & !here).trailing_zeros() as usize;
            (lane < LANES).then_some((w, lane))
        });
        let message = match absent {
            None => "waits at a barrier for more threads than there are".to_string(),
            Some((w, lane)) => format!(
                "waits at the barrier for thread {}, which {}",
                self.describe(self.thread(w, lane)),
                self.whereabouts(w, lane)
            ),
        };
        self.failed(warp, barrier.pc, *Fault::first(barrier.lanes, message))
    }

    fn whereabouts(&self, warp: &Warp, lane: usize) -> String {
        if warp.exited >> lane & 1 == 1 {
            return "has left the kernel".into();
        }
        let barriers = warp.waiting.iter().map(|x| (x.pc, x.lanes));
        let exchanges = warp.arrived.iter().map(|x| (x.pc, x.lanes));
        match barriers.chain(exchanges).find(|x| x.1 >> lane & 1 == 1) {
            Some((pc, _)) => format!("waits in line {}", self.line(pc)),
            None => "runs".into(),
        }
    }

    /// A thread as a reader names it.
    pub fn describe(&self, thread: u32) -> String {
        describe(thread, self.launch.block)
    }
}

/// `3 of block 2`
pub(crate) fn describe(thread: u32, block: u32) -> String {
    format!("{} of block {}", thread % block, thread / block)
}
