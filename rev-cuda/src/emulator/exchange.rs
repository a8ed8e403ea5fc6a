//! Exchanges between lanes: `shfl.sync`, `vote.sync`, `match.sync`, `redux.sync`, `bar.warp.sync`.
//!
//! The lanes that the mask names execute the instruction together: those that come first wait. A
//! lane that isn't in its own mask, or that reads a lane which isn't, is an error (the manual leaves
//! both undefined). Below sm_70 the manual wants all of them there at once.

use super::code::{each_lane, Code, Exchange, ExchangeKind, Op, Shuffle, Vote, LANES};
use super::warp::{Arrived, Fault, Warp};

impl Warp {
    /// Lanes come to an exchange. Those that have all they wait for go on.
    pub fn exchange(
        &mut self,
        code: &Code,
        x: &Exchange,
        lanes: u32,
        together: bool,
    ) -> Result<(), Box<Fault>> {
        let pc = self.pc;
        let row = *self.row(code, x.members, lanes)?;
        let mut rest = lanes;
        self.active &= !lanes;
        let mut on = self.active;
        while rest != 0 {
            let members = row[rest.trailing_zeros() as usize] as u32;
            let mut group = 0;
            each_lane(rest, |l| group |= u32::from(row[l] as u32 == members) << l);
            rest &= !group;
            if group & !members != 0 {
                return Err(Fault::first(
                    group & !members,
                    format!("the mask {members:#x} doesn't name the thread itself"),
                ));
            }
            let before = self.arrived.iter().position(|a| a.pc == pc && a.members == members);
            let lanes = group | before.map_or(0, |n| self.arrived.swap_remove(n).lanes);
            let missing = self.living(members) & !lanes;
            if missing == 0 {
                self.perform(code, &x.kind, lanes)?;
                on |= lanes;
                continue;
            }
            if together {
                let lane = missing.trailing_zeros();
                return Err(Fault::first(
                    lanes,
                    format!("the mask {members:#x} names lane {lane}, which isn't here"),
                ));
            }
            self.arrived.push(Arrived { pc, lanes, members });
        }
        self.active = on;
        self.pc = pc + 1;
        Ok(())
    }

    /// Lets lanes go on that waited for others which have left.
    pub fn release_arrived(&mut self, code: &Code) -> Result<bool, Box<Fault>> {
        let ready = self.arrived.iter().position(|a| self.living(a.members) & !a.lanes == 0);
        let Some(a) = ready.map(|n| self.arrived.swap_remove(n)) else {
            return Ok(false);
        };
        if let Op::Exchange(x) = &code.insts[a.pc as usize].op {
            self.perform(code, &x.kind, a.lanes)?;
        }
        self.park(a.pc + 1, a.lanes);
        Ok(true)
    }

    fn perform(&mut self, code: &Code, kind: &ExchangeKind, lanes: u32) -> Result<(), Box<Fault>> {
        match *kind {
            ExchangeKind::Barrier => {}
            ExchangeKind::Shuffle { how, d, p, a, b, c } => {
                let a = *self.row(code, a, lanes)?;
                let (b, c) = (*self.row(code, b, lanes)?, *self.row(code, c, lanes)?);
                let mut inside = 0;
                let out = self.row_mut(d, lanes);
                for lane in (0..LANES).filter(|l| lanes >> l & 1 == 1) {
                    let (from, found) = source(how, lane as i32, b[lane], c[lane]);
                    if lanes >> from & 1 == 0 {
                        return Err(Fault::new(lane, format!("reads lane {from}, which doesn't take part")));
                    }
                    out[lane] = a[from as usize];
                    inside |= u32::from(found) << lane;
                }
                if let Some(p) = p {
                    self.set_pred(p, lanes, inside);
                }
            }
            ExchangeKind::VotePred { how, p, a } => {
                let holds = self.condition(code, a, lanes)?;
                let result = match how {
                    Vote::All => holds == lanes,
                    Vote::Any => holds != 0,
                    Vote::Uniform => holds == lanes || holds == 0,
                    Vote::Ballot => return Ok(()),
                };
                self.set_pred(p, lanes, if result { u32::MAX } else { 0 });
            }
            ExchangeKind::Ballot { d, a } => {
                let holds = self.condition(code, a, lanes)?;
                let out = self.row_mut(d, lanes);
                each_lane(lanes, |l| out[l] = holds.into());
            }
            ExchangeKind::MatchAny { d, a } => {
                let a = *self.row(code, a, lanes)?;
                let out = self.row_mut(d, lanes);
                each_lane(lanes, |l| {
                    out[l] = 0;
                    each_lane(lanes, |m| out[l] |= u64::from(a[l] == a[m]) << m);
                });
            }
            ExchangeKind::MatchAll { d, p, a } => {
                let a = *self.row(code, a, lanes)?;
                let first = a[lanes.trailing_zeros() as usize % LANES];
                let mut same = true;
                each_lane(lanes, |l| same &= a[l] == first);
                let out = self.row_mut(d, lanes);
                each_lane(lanes, |l| out[l] = if same { lanes.into() } else { 0 });
                if let Some(p) = p {
                    self.set_pred(p, lanes, if same { u32::MAX } else { 0 });
                }
            }
            ExchangeKind::Reduce { f, d, a } => {
                let a = *self.row(code, a, lanes)?;
                let mut total = None;
                each_lane(lanes, |l| total = Some(total.map_or(a[l], |t| f(t, a[l], 0))));
                let out = self.row_mut(d, lanes);
                each_lane(lanes, |l| out[l] = total.unwrap_or(0));
            }
        }
        Ok(())
    }
}

/// The manual's pseudocode of `shfl.sync`: the lane read, and whether it was within the segment
/// (else a lane reads itself). `c` holds the clamp value and, from bit 8 on, the mask of segments.
fn source(how: Shuffle, lane: i32, b: u64, c: u64) -> (i32, bool) {
    let (b, clamp, segment) = ((b & 31) as i32, (c & 31) as i32, (c >> 8 & 31) as i32);
    let last = (lane & segment) | (clamp & !segment);
    let first = lane & segment;
    let (from, inside) = match how {
        Shuffle::Up => (lane - b, lane - b >= last),
        Shuffle::Down => (lane + b, lane + b <= last),
        Shuffle::Butterfly => (lane ^ b, lane ^ b <= last),
        Shuffle::Index => {
            let from = first | (b & !segment);
            (from, from <= last)
        }
    };
    if inside {
        (from, true)
    } else {
        (lane, false)
    }
}
