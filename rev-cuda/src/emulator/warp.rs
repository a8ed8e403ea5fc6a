//! The state of a warp, and which of its lanes run.
//!
//! Lanes at the same instruction run together. Where lanes have parted, those at the smallest
//! address run first: in structured code the place where paths meet again comes after both, so the
//! others wait there and all go on together. Lanes that wait in an exchange (`shfl.sync`, …) or at a
//! barrier let the others run, as from sm_70 on every thread makes progress.

use super::code::{Code, Condition, Pred, Reg, Row, CONSTANT, LANES, TRUE};
use super::memory::Bytes;

/// Lanes that wait at a barrier of the block.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Waiting {
    pub pc: u32,
    pub lanes: u32,
    pub id: u32,
    pub count: Option<u32>,
    pub aligned: bool,
}

/// Lanes that wait for the others named in an exchange.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Arrived {
    pub pc: u32,
    pub lanes: u32,
    pub members: u32,
}

/// A warp.
pub(crate) struct Warp {
    /// Its first thread in the block.
    pub first: u32,
    /// The lanes that exist.
    pub lanes: u32,
    /// The instruction of the lanes that run.
    pub pc: u32,
    pub active: u32,
    /// Lanes that could run, at other places.
    parked: Vec<(u32, u32)>,
    /// The smallest address among them.
    next: u32,
    pub waiting: Vec<Waiting>,
    pub arrived: Vec<Arrived>,
    pub exited: u32,
    pub carry: u32,
    regs: Vec<Row>,
    defined: Vec<u32>,
    preds: Vec<u32>,
    preds_defined: Vec<u32>,
    /// The lanes' local memories, one after another.
    pub local: Bytes,
}

/// What an instruction found wrong, and the lane.
#[derive(Debug)]
pub(crate) struct Fault {
    pub lane: usize,
    pub message: String,
}

impl Fault {
    #[cold]
    pub fn new(lane: usize, message: impl Into<String>) -> Box<Fault> {
        Box::new(Fault { lane, message: message.into() })
    }

    /// In the first lane of a mask.
    #[cold]
    pub fn first(lanes: u32, message: impl Into<String>) -> Box<Fault> {
        Fault::new(lanes.trailing_zeros() as usize % LANES, message)
    }
}

impl Warp {
    pub fn new(code: &Code, first: u32, lanes: u32) -> Warp {
        let mut warp = Warp {
            first,
            lanes,
            pc: 0,
            active: 0,
            parked: Vec::new(),
            next: u32::MAX,
            waiting: Vec::new(),
            arrived: Vec::new(),
            exited: 0,
            carry: 0,
            regs: vec![[0; LANES]; code.registers],
            defined: vec![0; code.registers],
            preds: vec![0; code.predicates],
            preds_defined: vec![0; code.predicates],
            local: Bytes::new(code.local_bytes * LANES),
        };
        warp.restart();
        warp
    }

    /// At the first instruction, with nothing known.
    pub fn restart(&mut self) {
        (self.pc, self.active, self.exited, self.carry) = (0, self.lanes, 0, 0);
        self.parked.clear();
        self.next = u32::MAX;
        self.defined.fill(0);
        self.preds_defined.fill(0);
        (self.preds[TRUE as usize], self.preds_defined[TRUE as usize]) = (u32::MAX, u32::MAX);
        self.local.forget();
    }

    /// The lanes that are needed for what `members` names.
    pub fn living(&self, members: u32) -> u32 {
        members & self.lanes & !self.exited
    }

    /// Chooses the lanes to run; none where all wait or have left.
    #[inline(always)]
    pub fn choose(&mut self) -> bool {
        if self.active != 0 && self.pc < self.next {
            return true;
        }
        self.switch()
    }

    fn switch(&mut self) -> bool {
        if self.active != 0 {
            self.parked.push((self.pc, self.active));
        }
        let pc = self.parked.iter().map(|p| p.0).min().unwrap_or(u32::MAX);
        self.active = self.parked.iter().filter(|p| p.0 == pc).fold(0, |m, p| m | p.1);
        self.parked.retain(|p| p.0 != pc);
        self.next = self.parked.iter().map(|p| p.0).min().unwrap_or(u32::MAX);
        self.pc = pc;
        self.active != 0
    }

    /// Lets lanes go on later.
    pub fn park(&mut self, pc: u32, lanes: u32) {
        if lanes != 0 {
            self.parked.push((pc, lanes));
            self.next = self.next.min(pc);
        }
    }

    /// The lanes where a condition holds.
    pub fn condition(&self, code: &Code, c: Condition, lanes: u32) -> Result<u32, Box<Fault>> {
        let missing = lanes & !self.preds_defined[c.pred as usize];
        if missing != 0 {
            let name = &code.predicate_names[c.pred as usize];
            return Err(Fault::first(missing, format!("`{name}` is read before it is written")));
        }
        let value = self.preds[c.pred as usize];
        Ok(lanes & if c.negated { !value } else { value })
    }

    pub fn set_pred(&mut self, pred: Pred, lanes: u32, value: u32) {
        let p = &mut self.preds[pred as usize];
        *p = *p & !lanes | value & lanes;
        self.preds_defined[pred as usize] |= lanes;
    }

    /// The row of a register or constant, which these lanes read.
    #[inline(always)]
    pub fn row<'w>(&'w self, code: &'w Code, reg: Reg, lanes: u32) -> Result<&'w Row, Box<Fault>> {
        if reg >= CONSTANT {
            return Ok(&code.constants[(reg - CONSTANT) as usize]);
        }
        let missing = lanes & !self.defined[reg as usize];
        if missing != 0 {
            let name = &code.register_names[reg as usize];
            return Err(Fault::first(missing, format!("`{name}` is read before it is written")));
        }
        Ok(&self.regs[reg as usize])
    }

    /// The row that these lanes write.
    #[inline(always)]
    pub fn row_mut(&mut self, reg: Reg, lanes: u32) -> &mut Row {
        self.defined[reg as usize] |= lanes;
        &mut self.regs[reg as usize]
    }

    /// One value that all these lanes have.
    pub fn uniform(&self, code: &Code, reg: Reg, lanes: u32, what: &str) -> Result<u64, Box<Fault>> {
        let row = self.row(code, reg, lanes)?;
        let value = row[lanes.trailing_zeros() as usize % LANES];
        match (0..LANES).find(|l| lanes >> l & 1 == 1 && row[*l] != value) {
            None => Ok(value),
            Some(lane) => Err(Fault::new(lane, format!("{what} differs between the threads of the warp"))),
        }
    }
}
