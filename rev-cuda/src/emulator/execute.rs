//! One instruction for the active lanes of a warp.

use super::code::{each_lane, Access, Address, Axis, Inst, Mode, Op, Row, Special, Strength, LANES};
use super::decode::inserted;
use super::machine::Machine;
use super::memory::{LOCAL_WINDOW, SHARED_WINDOW};
use super::race::{Conflict, Deed};
use super::syntax::Space;
use super::traffic::Sectors;
use super::warp::{Fault, Waiting, Warp};

type Step = Result<(), Box<Fault>>;

impl Machine<'_> {
    /// `lanes`: those whose guard holds; not none.
    pub fn execute(&mut self, warp: &mut Warp, inst: &Inst, lanes: u32) -> Step {
        let code = self.code;
        match &inst.op {
            Op::Alu { f, mode: Mode::Plain, d, a, b, c } => {
                let (a, b) = (*warp.row(code, *a, lanes)?, *warp.row(code, *b, lanes)?);
                let c = *warp.row(code, *c, lanes)?;
                f(lanes, &a, &b, &c, warp.row_mut(*d, lanes));
            }
            Op::Alu { f, mode, d, a, b, c } => {
                let rows =
                    [*warp.row(code, *a, lanes)?, *warp.row(code, *b, lanes)?, *warp.row(code, *c, lanes)?];
                let [a, b, c] = rows.map(|r| prepared(r, *mode));
                let out = warp.row_mut(*d, lanes);
                f(lanes, &a, &b, &c, out);
                finish(out, lanes, *mode);
            }
            Op::Set { f, flush, with, p, q, a, b } => {
                let mode = Mode::Single { flush: *flush, saturate: false };
                let a = prepared(*warp.row(code, *a, lanes)?, mode);
                let b = prepared(*warp.row(code, *b, lanes)?, mode);
                let found = f(lanes, &a, &b);
                let (mut yes, mut no) = (found, lanes & !found);
                if let Some((logic, c)) = with {
                    let c = warp.condition(code, *c, lanes)?;
                    (yes, no) = (logic.apply(yes, c), logic.apply(no, c));
                }
                warp.set_pred(*p, lanes, yes);
                if let Some(q) = q {
                    warp.set_pred(*q, lanes, no);
                }
            }
            Op::SetValue { f, flush, with, yes, d, a, b } => {
                let mode = Mode::Single { flush: *flush, saturate: false };
                let a = prepared(*warp.row(code, *a, lanes)?, mode);
                let b = prepared(*warp.row(code, *b, lanes)?, mode);
                let mut found = f(lanes, &a, &b);
                if let Some((logic, c)) = with {
                    found = logic.apply(found, warp.condition(code, *c, lanes)?);
                }
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = if found >> l & 1 == 1 { *yes } else { 0 });
            }
            Op::Select { d, a, b, p } => {
                let first = warp.condition(code, *p, lanes)?;
                // Only the operand that is chosen needs a value.
                let (a, b) = (*warp.row(code, *a, first)?, *warp.row(code, *b, lanes & !first)?);
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = if first >> l & 1 == 1 { a[l] } else { b[l] });
            }
            Op::Predicate { logic, p, a, b } => {
                let (a, b) = (warp.condition(code, *a, lanes)?, warp.condition(code, *b, lanes)?);
                warp.set_pred(*p, lanes, logic.apply(a, b));
            }
            Op::Carry { f, reads, sets, d, a, b, c } => {
                let (a, b) = (*warp.row(code, *a, lanes)?, *warp.row(code, *b, lanes)?);
                let c = *warp.row(code, *c, lanes)?;
                let old = if *reads { warp.carry } else { 0 };
                let mut carry = 0;
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| {
                    let (value, flag) = f(a[l], b[l], c[l], old >> l & 1 == 1);
                    out[l] = value;
                    carry |= u32::from(flag) << l;
                });
                if *sets {
                    warp.carry = warp.carry & !lanes | carry;
                }
            }
            Op::Convert { how, sign_to, d, a } => {
                let a = *warp.row(code, *a, lanes)?;
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = how.apply(a[l]));
                if let Some(to) = sign_to {
                    finish(out, lanes, Mode::Extend { from: how.bits(), to: *to });
                }
            }
            Op::Insert { d, a, b, at, len, bits } => {
                let (a, b) = (*warp.row(code, *a, lanes)?, *warp.row(code, *b, lanes)?);
                let (at, len) = (*warp.row(code, *at, lanes)?, *warp.row(code, *len, lanes)?);
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = inserted(a[l], b[l], at[l], len[l], *bits));
            }
            Op::Lookup { table, d, a, b, c } => {
                let (a, b) = (*warp.row(code, *a, lanes)?, *warp.row(code, *b, lanes)?);
                let c = *warp.row(code, *c, lanes)?;
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = lookup(*table, a[l] as u32, b[l] as u32, c[l] as u32).into());
            }
            Op::Special { what, d } => self.special(warp, *what, *d, lanes),
            Op::Unpack { regs, count, bits, a } => {
                let a = *warp.row(code, *a, lanes)?;
                for (n, d) in regs[..*count].iter().enumerate() {
                    let out = warp.row_mut(*d, lanes);
                    each_lane(lanes, |l| out[l] = a[l] >> (n as u32 * bits) & ((1 << bits) - 1));
                }
            }
            Op::Pack { d, regs, count, bits } => {
                let mut row = [0; LANES];
                for (n, a) in regs[..*count].iter().enumerate() {
                    let a = warp.row(code, *a, lanes)?;
                    each_lane(lanes, |l| row[l] |= a[l] << (n as u32 * bits));
                }
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = row[l]);
            }
            Op::LoadParam { at, access } => {
                for n in 0..access.count {
                    let at = at + n * access.bytes;
                    let mut word = [0; 8];
                    word[..access.bytes].copy_from_slice(&self.launch.params[at..at + access.bytes]);
                    let out = warp.row_mut(access.regs[n], lanes);
                    each_lane(lanes, |l| out[l] = u64::from_le_bytes(word));
                    extend(out, lanes, access);
                }
            }
            Op::Load(access) => self.load(warp, access, lanes)?,
            Op::Store(access) => self.store(warp, access, lanes)?,
            Op::Atomic { .. } => self.atomic(warp, &inst.op, lanes)?,
            Op::Branch { target, uniform } => return branch(warp, *target, *uniform, lanes),
            Op::Exit => {
                warp.exited |= lanes;
                warp.active &= !lanes;
            }
            Op::Barrier { id, count, aligned } => {
                let id = warp.uniform(code, *id, lanes, "the barrier's number")? as u32;
                let count = match count {
                    None => None,
                    Some(count) => Some(warp.uniform(code, *count, lanes, "the number of threads")? as u32),
                };
                warp.waiting.push(Waiting { pc: warp.pc, lanes, id, count, aligned: *aligned });
                warp.active &= !lanes;
                if count.is_some_and(|n| n == 0 || n % LANES as u32 != 0) {
                    return Err(Fault::first(
                        lanes,
                        "the number of threads must be a multiple of the warp's",
                    ));
                }
            }
            Op::Exchange(x) => return warp.exchange(code, x, lanes, self.launch.together),
            Op::ActiveMask { d } => {
                let out = warp.row_mut(*d, lanes);
                each_lane(lanes, |l| out[l] = lanes.into());
            }
            Op::Fence => {}
            Op::Trap => return Err(Fault::first(lanes, "a trap")),
        }
        warp.pc += 1;
        Ok(())
    }

    fn special(&self, warp: &mut Warp, what: Special, d: u32, lanes: u32) {
        let first = warp.first;
        let launch = self.launch;
        let value = |lane: usize| -> u64 {
            let bit = 1u32 << lane;
            match what {
                Special::Thread(Axis::X) => u64::from(first) + lane as u64,
                Special::BlockSize(Axis::X) => launch.block.into(),
                Special::Block(Axis::X) => self.block.into(),
                Special::Blocks(Axis::X) => launch.grid.into(),
                Special::Thread(Axis::Other) | Special::Block(Axis::Other) => 0,
                Special::BlockSize(Axis::Other) | Special::Blocks(Axis::Other) => 1,
                Special::Lane => lane as u64,
                Special::Warp => u64::from(first) / LANES as u64,
                Special::Warps => u64::from(launch.block.div_ceil(LANES as u32)),
                Special::Clock => self.steps & 0xffff_ffff,
                Special::Grid => launch.number.into(),
                Special::LanesEqual => bit.into(),
                Special::LanesBelow => (bit - 1).into(),
                Special::LanesUpTo => (bit | (bit - 1)).into(),
                Special::LanesAbove => (!(bit | (bit - 1))).into(),
                Special::LanesFrom => (!(bit - 1)).into(),
            }
        };
        let out = warp.row_mut(d, lanes);
        each_lane(lanes, |l| out[l] = value(l));
    }

    fn load(&mut self, warp: &mut Warp, access: &Access, lanes: u32) -> Step {
        let base = *warp.row(self.code, access.address.base, lanes)?;
        let mut values = [[0; LANES]; 4];
        let mut sectors = Sectors::default();
        for lane in (0..LANES).filter(|l| lanes >> l & 1 == 1) {
            let place = self.place(warp, lane, &access.address, base[lane], access.bytes * access.count)?;
            sectors.add(place.in_device());
            self.check_race(
                warp,
                lane,
                &place,
                access.bytes * access.count,
                deed(access.strength, Deed::Read),
            )?;
            for (n, value) in values[..access.count].iter_mut().enumerate() {
                value[lane] = self.read(warp, lane, &place, n * access.bytes, access.bytes)?;
            }
        }
        self.traffic.loaded += (sectors.accesses() * access.bytes * access.count) as u64;
        self.traffic.loaded_sectors += sectors.count();
        for (n, value) in values[..access.count].iter().enumerate() {
            let out = warp.row_mut(access.regs[n], lanes);
            each_lane(lanes, |l| out[l] = value[l]);
            extend(out, lanes, access);
        }
        Ok(())
    }

    fn store(&mut self, warp: &mut Warp, access: &Access, lanes: u32) -> Step {
        let base = *warp.row(self.code, access.address.base, lanes)?;
        let mut values = [[0; LANES]; 4];
        for (n, value) in values[..access.count].iter_mut().enumerate() {
            *value = *warp.row(self.code, access.regs[n], lanes)?;
        }
        let mut sectors = Sectors::default();
        for lane in (0..LANES).filter(|l| lanes >> l & 1 == 1) {
            let place = self.place(warp, lane, &access.address, base[lane], access.bytes * access.count)?;
            sectors.add(place.in_device());
            self.check_race(
                warp,
                lane,
                &place,
                access.bytes * access.count,
                deed(access.strength, Deed::Write),
            )?;
            for (n, value) in values[..access.count].iter().enumerate() {
                self.write(warp, &place, n * access.bytes, access.bytes, value[lane]);
            }
        }
        self.traffic.stored += (sectors.accesses() * access.bytes * access.count) as u64;
        self.traffic.stored_sectors += sectors.count();
        Ok(())
    }

    fn atomic(&mut self, warp: &mut Warp, op: &Op, lanes: u32) -> Step {
        let Op::Atomic { address, f, bytes, flush, d, b, c, strength } = op else { return Ok(()) };
        self.traffic.atomics += u64::from(lanes.count_ones());
        let base = *warp.row(self.code, address.base, lanes)?;
        let (b, c) = (*warp.row(self.code, *b, lanes)?, *warp.row(self.code, *c, lanes)?);
        let mut old = [0; LANES];
        for lane in (0..LANES).filter(|l| lanes >> l & 1 == 1) {
            let place = self.place(warp, lane, address, base[lane], *bytes)?;
            self.check_race(warp, lane, &place, *bytes, deed(*strength, Deed::Write))?;
            let value = self.read(warp, lane, &place, 0, *bytes)?;
            old[lane] = value;
            // `add.f32` flushes subnormals in global memory, and doesn't in shared memory.
            let flush = *flush && place.space == Space::Global;
            let clean = |v| if flush { flushed(v) } else { v };
            let new = clean(f(clean(value), clean(b[lane]), c[lane]));
            self.write(warp, &place, 0, *bytes, new);
        }
        if let Some(d) = d {
            let out = warp.row_mut(*d, lanes);
            each_lane(lanes, |l| out[l] = old[l]);
        }
        Ok(())
    }

    /// The memory and offset of an address, checked.
    #[inline(always)]
    fn place(
        &self,
        warp: &Warp,
        lane: usize,
        at: &Address,
        base: u64,
        bytes: usize,
    ) -> Result<Found, Box<Fault>> {
        let address = base.wrapping_add(at.offset as u64);
        let (space, address) = match (at.space, address >> 60) {
            (Space::Generic, 0xa) => (Space::Shared, address - SHARED_WINDOW),
            (Space::Generic, 0xb) => (Space::Local, address - LOCAL_WINDOW),
            (Space::Generic, _) => (Space::Global, address),
            (space, _) => (space, address),
        };
        // A power of two.
        if address & (bytes as u64 - 1) != 0 {
            return Err(Fault::new(lane, format!("the address {address:#x} isn't aligned to {bytes} bytes")));
        }
        if space == Space::Global {
            return match self.memory.locate(address, bytes) {
                Ok(p) => Ok(Found { space, allocation: p.allocation, offset: p.offset }),
                Err(message) => Err(Fault::new(lane, message)),
            };
        }
        let size = match space {
            Space::Shared => self.shared.len(),
            Space::Constant => self.code.constant.len(),
            _ => warp.local.len() / LANES,
        };
        if address.checked_add(bytes as u64).is_none_or(|end| end > size as u64) {
            return Err(Fault::new(
                lane,
                format!(
                    "{bytes} bytes at offset {} of {space} memory, which has {size} bytes",
                    address as i64
                ),
            ));
        }
        let first = if space == Space::Local { lane * size } else { 0 };
        Ok(Found { space, allocation: 0, offset: first + address as usize })
    }

    #[inline(always)]
    fn read(
        &mut self,
        warp: &Warp,
        lane: usize,
        place: &Found,
        at: usize,
        bytes: usize,
    ) -> Result<u64, Box<Fault>> {
        let source = match place.space {
            Space::Shared => &self.shared,
            Space::Local => &warp.local,
            Space::Constant => &self.code.constant,
            _ => &self.memory.at(place.global()).bytes,
        };
        source.read(place.offset + at, bytes).map_err(|first| self.unwritten(warp, lane, place, first))
    }

    #[cold]
    fn unwritten(&self, warp: &Warp, lane: usize, place: &Found, first: usize) -> Box<Fault> {
        let at = if place.space == Space::Local { first - lane * (warp.local.len() / LANES) } else { first };
        Fault::new(lane, format!("reads byte {at} of {}, which was never written", self.name(place)))
    }

    fn name(&self, place: &Found) -> String {
        match place.space {
            Space::Global => format!("`{}`", self.memory.name(place.allocation)),
            space => format!("{space} memory"),
        }
    }

    #[inline(always)]
    fn write(&mut self, warp: &mut Warp, place: &Found, at: usize, bytes: usize, value: u64) {
        let target = match place.space {
            Space::Shared => &mut self.shared,
            Space::Local => &mut warp.local,
            _ => &mut self.memory.at(place.global()).bytes,
        };
        target.write(place.offset + at, bytes, value);
    }

    #[inline(always)]
    fn check_race(&mut self, warp: &Warp, lane: usize, place: &Found, bytes: usize, deed: Deed) -> Step {
        if !self.launch.races || matches!(place.space, Space::Local | Space::Constant) {
            return Ok(());
        }
        let actor = self.actor(warp, lane);
        let shadow = match place.space {
            Space::Shared => &mut self.shadow,
            _ => &mut self.memory.at(place.global()).shadow,
        };
        shadow.access(place.offset, bytes, deed, &actor).map_err(|c| self.race(lane, place, deed, &c))
    }

    #[cold]
    fn race(&self, lane: usize, place: &Found, deed: Deed, other: &Conflict) -> Box<Fault> {
        let verb = |deed| match deed {
            Deed::Read => "read",
            Deed::Write => "wrote",
            Deed::Atomic { .. } => "changed atomically",
        };
        let now = match deed {
            Deed::Read => "reads",
            Deed::Write => "writes",
            Deed::Atomic { .. } => "changes atomically",
        };
        let line = self.code.insts.get(other.inst as usize).map_or(0, |i| i.line);
        Fault::new(
            lane,
            format!(
                "race: {now} {} at offset {}, which thread {} {} in line {line}, with nothing between them",
                self.name(place),
                place.offset,
                self.describe(other.thread),
                verb(other.deed),
            ),
        )
    }
}

/// A checked place in memory.
struct Found {
    space: Space,
    allocation: usize,
    offset: usize,
}

impl Found {
    /// The place, where it is in global memory.
    fn in_device(&self) -> Option<super::memory::Place> {
        (self.space == Space::Global).then(|| self.global())
    }

    fn global(&self) -> super::memory::Place {
        super::memory::Place { allocation: self.allocation, offset: self.offset }
    }
}

fn deed(strength: Strength, weak: Deed) -> Deed {
    match strength {
        Strength::Weak => weak,
        Strength::Block => Deed::Atomic { block: true },
        Strength::Device => Deed::Atomic { block: false },
    }
}

fn branch(warp: &mut Warp, target: u32, uniform: bool, lanes: u32) -> Step {
    let rest = warp.active & !lanes;
    if rest == 0 {
        warp.pc = target;
        return Ok(());
    }
    if uniform {
        return Err(Fault::first(rest, "a branch that is said to be uniform isn't taken by all threads"));
    }
    warp.park(target, lanes);
    (warp.pc, warp.active) = (warp.pc + 1, rest);
    Ok(())
}

/// Subnormal `f32` as zero of its sign.
fn flushed(bits: u64) -> u64 {
    if bits & 0x7f80_0000 == 0 {
        bits & 0x8000_0000
    } else {
        bits
    }
}

fn prepared(mut row: Row, mode: Mode) -> Row {
    if let Mode::Single { flush: true, .. } = mode {
        row.iter_mut().for_each(|v| *v = flushed(*v));
    }
    row
}

fn finish(out: &mut Row, lanes: u32, mode: Mode) {
    each_lane(lanes, |l| {
        out[l] = match mode {
            Mode::Plain => out[l],
            Mode::Extend { from, to } => {
                let value = ((out[l] << (64 - from)) as i64 >> (64 - from)) as u64;
                value & (u64::MAX >> (64 - to))
            }
            Mode::Single { flush, saturate } => {
                let v = if flush { flushed(out[l]) } else { out[l] };
                let f = f32::from_bits(v as u32);
                match saturate {
                    false => v,
                    true if f >= 1.0 => 1f32.to_bits().into(),
                    // Also NaN and minus zero.
                    true if f > 0.0 => v,
                    true => 0,
                }
            }
        };
    });
}

fn extend(out: &mut Row, lanes: u32, access: &Access) {
    if let Some(to) = access.sign_to {
        finish(out, lanes, Mode::Extend { from: 8 * access.bytes as u32, to });
    }
}

fn lookup(table: u32, a: u32, b: u32, c: u32) -> u32 {
    (0..8).filter(|k| table >> k & 1 == 1).fold(0, |out, k| {
        let pick = |v: u32, bit: u32| if k & bit != 0 { v } else { !v };
        out | (pick(a, 4) & pick(b, 2) & pick(c, 1))
    })
}
