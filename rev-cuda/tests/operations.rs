//! Every operation of a kernel, printed and run on the emulator, against its definition in Rust.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_cuda::driver::{Driver, Target};
use rev_cuda::emulator::Emulator;
use rev_cuda::kernel::{
    Address, Atomic, Inst, Kernel, KernelParam, Op, Operand, Reg, Relation, Space, Special, Ty,
    ERROR_RECORD_BYTES,
};

const INTEGERS: [Ty; 8] = [Ty::I8, Ty::I16, Ty::I32, Ty::I64, Ty::U8, Ty::U16, Ty::U32, Ty::U64];
const FLOATS: [Ty; 2] = [Ty::F32, Ty::F64];
const RELATIONS: [Relation; 6] =
    [Relation::Eq, Relation::Ne, Relation::Lt, Relation::Le, Relation::Gt, Relation::Ge];

/// Threads of a run, in blocks of 64.
const COUNT: usize = 512;

/// Where something special happens, in some type.
const EDGES: [u64; 14] = [
    0,
    1,
    2,
    7,
    u64::MAX,
    u64::MAX - 1,
    1 << 63,
    1 << 31,
    1 << 15,
    1 << 7,
    0x7f,
    0x7fff,
    0x7fff_ffff,
    (1 << 63) - 1,
];

/// The same for floats.
const REALS: [f64; 27] = [
    0.0,
    -0.0,
    1.0,
    -1.0,
    0.5,
    1.5,
    2.5,
    -2.5,
    0.1,
    127.5,
    -129.0,
    255.9,
    65535.5,
    2147483647.5,
    -2147483649.0,
    4294967295.9,
    9223372036854775807.0,
    18446744073709551615.0,
    -1e19,
    1e30,
    1e300,
    f64::MAX,
    5e-324,
    1e-40,
    f64::INFINITY,
    f64::NEG_INFINITY,
    f64::NAN,
];

/// A generator of test values (xorshift).
struct Values(u64);

impl Values {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0
    }

    /// The bits of a value.
    fn of(&mut self, ty: Ty) -> u64 {
        let (kind, pick) = (self.next() % 3, (self.next() >> 40) as usize);
        let between = 1.0 + (pick as f64) / 1e7;
        let bits = match (kind, ty) {
            (0, _) => self.next(),
            (1, Ty::F32) => (between as f32).to_bits().into(),
            (1, Ty::F64) => between.to_bits(),
            (_, Ty::F32) => (REALS[pick % REALS.len()] as f32).to_bits().into(),
            (_, Ty::F64) => REALS[pick % REALS.len()].to_bits(),
            _ => EDGES[pick % EDGES.len()],
        };
        match ty {
            Ty::Pred => bits & 1,
            _ => cut(bits, ty),
        }
    }
}

/// The low bits that a type has.
fn cut(bits: u64, ty: Ty) -> u64 {
    bits & (u64::MAX >> (64 - 8 * ty.size()))
}

fn builder(name: &str, params: &[&str]) -> (Kernel, Vec<Reg>) {
    let mut kernel = Kernel { name: name.into(), title: name.into(), block: 64, ..Kernel::default() };
    let registers = params
        .iter()
        .map(|p| {
            let register = kernel.register(Ty::U64, *p);
            kernel.params.push(KernelParam { name: (*p).into(), register });
            register
        })
        .collect();
    (kernel, registers)
}

fn set(to: Reg, op: Op, args: &[Operand]) -> Inst {
    Inst::Op { to, op, args: args.to_vec() }
}

fn push(kernel: &mut Kernel, ty: Ty, op: Op, args: &[Operand]) -> Reg {
    let to = kernel.register(ty, "t");
    kernel.body.push(set(to, op, args));
    to
}

fn special(kernel: &mut Kernel, what: Special) -> Reg {
    let to = kernel.register(Ty::U32, "s");
    kernel.body.push(Inst::Special { to, what });
    to
}

/// The thread's number in the grid.
fn thread(kernel: &mut Kernel) -> Reg {
    let [tid, size, block] =
        [Special::ThreadInBlock, Special::BlockSize, Special::Block].map(|what| special(kernel, what));
    let start = push(kernel, Ty::U32, Op::Mul, &[block.into(), size.into()]);
    push(kernel, Ty::U32, Op::Add, &[start.into(), tid.into()])
}

/// Element `index` of 8-byte slots.
fn slot(kernel: &mut Kernel, base: Reg, index: Reg) -> Address {
    let wide = push(kernel, Ty::U64, Op::Convert, &[index.into()]);
    let offset = push(kernel, Ty::U64, Op::Mul, &[wide.into(), Operand::u64(8)]);
    let base = push(kernel, Ty::U64, Op::Add, &[base.into(), offset.into()]).into();
    Address { space: Space::Global, base, offset: 0 }
}

/// Runs a kernel of [`COUNT`] threads on buffers of slots; the text.
fn run(kernel: &Kernel, buffers: &mut [Vec<u64>]) -> String {
    let device = Emulator::new();
    let text = rev_cuda::ptx::kernels(std::slice::from_ref(kernel), Target(70));
    let module = device.load(&text).unwrap_or_else(|e| panic!("{e}\n{text}"));
    let mut addresses = Vec::new();
    for (n, buffer) in buffers.iter().enumerate() {
        let bytes: Vec<u8> = buffer.iter().flat_map(|v| v.to_le_bytes()).collect();
        let address = device.allocate(&format!("b{n}"), bytes.len()).unwrap();
        device.upload(address, &bytes).unwrap();
        addresses.push(address);
    }
    let params: Vec<Vec<u8>> = addresses.iter().map(|a| a.to_le_bytes().to_vec()).collect();
    let blocks = (COUNT as u32).div_ceil(kernel.block);
    device
        .launch(module, &kernel.name, blocks, kernel.block, &params)
        .unwrap_or_else(|e| panic!("{e}\n{text}"));
    for (buffer, address) in buffers.iter_mut().zip(addresses) {
        let mut bytes = vec![0; 8 * buffer.len()];
        device.download(address, &mut bytes).unwrap();
        *buffer = bytes.chunks_exact(8).map(|c| u64::from_le_bytes(c.try_into().unwrap())).collect();
    }
    text
}

/// Whether two results are the same; all NaNs are.
fn same(a: u64, b: u64, ty: Ty) -> bool {
    let nan = |v: u64| match ty {
        Ty::F32 => f32::from_bits(v as u32).is_nan(),
        Ty::F64 => f64::from_bits(v).is_nan(),
        _ => false,
    };
    a == b || nan(a) && nan(b)
}

/// One operation on random operands, against `expected`.
fn check(op: Op, types: &[Ty], result: Ty, expected: &dyn Fn(&[u64]) -> u64) {
    let (mut kernel, params) = builder("k", &["a", "b", "c", "out"]);
    let index = thread(&mut kernel);
    let mut args: Vec<Operand> = Vec::new();
    for (ty, base) in types.iter().zip(&params) {
        let from = slot(&mut kernel, *base, index);
        let to = kernel.register(*ty, "a");
        kernel.body.push(Inst::Load { to, from, read_only: false });
        args.push(to.into());
    }
    let value = push(&mut kernel, result, op, &args).into();
    let to = slot(&mut kernel, params[3], index);
    kernel.body.push(Inst::Store { to, value, ty: result });
    let mut values = Values(88172645463325252 + types.iter().map(|t| *t as u64).sum::<u64>());
    let mut buffers = vec![vec![0u64; COUNT]; 4];
    for t in 0..COUNT {
        for (ty, buffer) in types.iter().zip(&mut buffers) {
            buffer[t] = values.of(*ty);
        }
        // The divisor isn't zero.
        if matches!(op, Op::Div | Op::Rem) && !result.is_float() && buffers[1][t] == 0 {
            buffers[1][t] = 1;
        }
    }
    let text = run(&kernel, &mut buffers);
    for t in 0..COUNT {
        let operands: Vec<u64> = buffers.iter().take(types.len()).map(|b| b[t]).collect();
        let (found, wanted) = (buffers[3][t], cut(expected(&operands), result));
        assert!(
            same(found, wanted, result),
            "{op:?} of {types:?} on {operands:x?}: {found:#x}, expected {wanted:#x}\n{text}"
        );
    }
}

macro_rules! by_type {
    ($ty:expr, $T:ident => $e:expr) => {
        match $ty {
            Ty::I8 => by_type!(@ $T = i8, $e),
            Ty::I16 => by_type!(@ $T = i16, $e),
            Ty::I32 => by_type!(@ $T = i32, $e),
            Ty::I64 => by_type!(@ $T = i64, $e),
            Ty::U8 | Ty::Pred => by_type!(@ $T = u8, $e),
            Ty::U16 => by_type!(@ $T = u16, $e),
            Ty::U32 => by_type!(@ $T = u32, $e),
            Ty::U64 => by_type!(@ $T = u64, $e),
            Ty::F32 | Ty::F64 => unreachable!(),
        }
    };
    (@ $T:ident = $rust:ident, $e:expr) => {{
        type $T = $rust;
        $e
    }};
}

fn integer(op: Op, ty: Ty, v: &[u64]) -> u64 {
    by_type!(ty, T => {
        let (a, b) = (v[0] as T, v.get(1).map_or(0, |b| *b as T));
        let amount = v.get(1).map_or(0, |b| *b as u32);
        let zero: T = 0;
        let result: T = match op {
            Op::Move => a,
            Op::Add => a.wrapping_add(b),
            Op::Sub => a.wrapping_sub(b),
            Op::Mul => a.wrapping_mul(b),
            Op::MulHigh => (((a as i128) * (b as i128)) >> T::BITS) as T,
            Op::Div => a.wrapping_div(b),
            Op::Rem => a.wrapping_rem(b),
            Op::Neg => zero.wrapping_sub(a),
            Op::Abs if ty.is_signed() && v[0] >> (T::BITS - 1) == 1 => zero.wrapping_sub(a),
            Op::Abs => a,
            Op::Min => a.min(b),
            Op::Max => a.max(b),
            Op::And => a & b,
            Op::Or => a | b,
            Op::Xor => a ^ b,
            Op::Not => !a,
            Op::Shl => a.wrapping_shl(amount),
            Op::Shr => a.wrapping_shr(amount),
            other => panic!("{other:?}"),
        };
        result as u64
    })
}

macro_rules! float {
    ($T:ident, $op:expr, $v:expr, $read:expr) => {{
        let at = |k: usize| -> $T { $v.get(k).copied().map_or(0.0, $read) };
        let (a, b, c) = (at(0), at(1), at(2));
        let result: $T = match $op {
            Op::Move => a,
            Op::Add => a + b,
            Op::Sub => a - b,
            Op::Mul => a * b,
            Op::Div => a / b,
            Op::Fma => a.mul_add(b, c),
            Op::Neg => -a,
            Op::Abs => a.abs(),
            Op::Min => rev_core::scalar::rt::min(a, b),
            Op::Max => rev_core::scalar::rt::max(a, b),
            Op::Sqrt => a.sqrt(),
            Op::Floor => a.floor(),
            Op::Ceil => a.ceil(),
            Op::Trunc => a.trunc(),
            Op::RoundEven => a.round_ties_even(),
            Op::CopySign => a.copysign(b),
            other => panic!("{other:?}"),
        };
        u64::from(result.to_bits())
    }};
}

#[allow(clippy::useless_conversion)]
fn real(op: Op, ty: Ty, v: &[u64]) -> u64 {
    match ty {
        Ty::F32 => float!(f32, op, v, |b| f32::from_bits(b as u32)),
        _ => float!(f64, op, v, f64::from_bits),
    }
}

#[test]
fn arithmetic_of_integers() {
    let unary = [Op::Move, Op::Neg, Op::Abs, Op::Not];
    let binary = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Rem, Op::Min, Op::Max, Op::And, Op::Or, Op::Xor];
    for ty in INTEGERS {
        for op in unary {
            check(op, &[ty], ty, &|v| integer(op, ty, v));
        }
        for op in binary {
            check(op, &[ty, ty], ty, &|v| integer(op, ty, v));
        }
        for op in [Op::Shl, Op::Shr] {
            check(op, &[ty, Ty::U32], ty, &|v| integer(op, ty, v));
        }
        if ty.size() >= 4 {
            let high = |v: &[u64]| match ty {
                Ty::U64 => ((u128::from(v[0]) * u128::from(v[1])) >> 64) as u64,
                _ => integer(Op::MulHigh, ty, v),
            };
            check(Op::MulHigh, &[ty, ty], ty, &high);
        }
    }
}

#[test]
fn arithmetic_of_floats() {
    let unary = [Op::Move, Op::Neg, Op::Abs, Op::Sqrt, Op::Floor, Op::Ceil, Op::Trunc, Op::RoundEven];
    let binary = [Op::Add, Op::Sub, Op::Mul, Op::Div, Op::Min, Op::Max, Op::CopySign];
    for ty in FLOATS {
        for op in unary {
            check(op, &[ty], ty, &|v| real(op, ty, v));
        }
        for op in binary {
            check(op, &[ty, ty], ty, &|v| real(op, ty, v));
        }
        check(Op::Fma, &[ty, ty, ty], ty, &|v| real(Op::Fma, ty, v));
    }
}

fn relation<T: PartialOrd>(relation: Relation, a: T, b: T) -> u64 {
    u64::from(match relation {
        Relation::Eq => a == b,
        Relation::Ne => a != b,
        Relation::Lt => a < b,
        Relation::Le => a <= b,
        Relation::Gt => a > b,
        Relation::Ge => a >= b,
    })
}

#[test]
fn comparisons_and_selection() {
    for ty in INTEGERS.into_iter().chain(FLOATS) {
        for r in RELATIONS {
            let expected = |v: &[u64]| match ty {
                Ty::F32 => relation(r, f32::from_bits(v[0] as u32), f32::from_bits(v[1] as u32)),
                Ty::F64 => relation(r, f64::from_bits(v[0]), f64::from_bits(v[1])),
                _ => by_type!(ty, T => relation(r, v[0] as T, v[1] as T)),
            };
            check(Op::Compare(r), &[ty, ty], Ty::Pred, &expected);
        }
        check(Op::Select, &[Ty::Pred, ty, ty], ty, &|v| if v[0] != 0 { v[1] } else { v[2] });
    }
    let pred = Ty::Pred;
    for r in [Relation::Eq, Relation::Ne] {
        check(Op::Compare(r), &[pred, pred], pred, &|v| relation(r, v[0], v[1]));
    }
    check(Op::And, &[pred, pred], pred, &|v| v[0] & v[1]);
    check(Op::Or, &[pred, pred], pred, &|v| v[0] | v[1]);
    check(Op::Xor, &[pred, pred], pred, &|v| v[0] ^ v[1]);
    check(Op::Not, &[pred], pred, &|v| v[0] ^ 1);
    check(Op::Select, &[pred, pred, pred], pred, &|v| if v[0] != 0 { v[1] } else { v[2] });
}

#[allow(clippy::unnecessary_cast)]
fn converted(from: Ty, to: Ty, v: u64) -> u64 {
    match (from, to) {
        (Ty::F32, Ty::F64) => f64::from(f32::from_bits(v as u32)).to_bits(),
        (Ty::F64, Ty::F32) => (f64::from_bits(v) as f32).to_bits().into(),
        (Ty::F32, Ty::F32) | (Ty::F64, Ty::F64) => v,
        (Ty::F32, _) => by_type!(to, T => f32::from_bits(v as u32) as T as u64),
        (Ty::F64, _) => by_type!(to, T => f64::from_bits(v) as T as u64),
        (_, Ty::F32) => by_type!(from, T => (v as T as f32).to_bits().into()),
        (_, Ty::F64) => by_type!(from, T => (v as T as f64).to_bits()),
        _ => by_type!(from, T => v as T as i128 as u64),
    }
}

#[test]
fn conversions() {
    let all: Vec<Ty> = INTEGERS.into_iter().chain(FLOATS).collect();
    for from in all.iter().copied().chain([Ty::Pred]) {
        for &to in &all {
            check(Op::Convert, &[from], to, &|v| converted(from, to, v[0]));
        }
    }
    let pairs = [
        (Ty::F64, Ty::U64),
        (Ty::I64, Ty::F64),
        (Ty::F32, Ty::I32),
        (Ty::U32, Ty::F32),
        (Ty::I8, Ty::U8),
        (Ty::U16, Ty::I16),
    ];
    for (from, to) in pairs {
        check(Op::Bits, &[from], to, &|v| v[0]);
    }
}

#[test]
fn loops_with_branches_in_them() {
    // Steps of the Collatz sequence, each thread its own number.
    let (mut kernel, params) = builder("collatz", &["out"]);
    let one = Operand::u32(1);
    let index = thread(&mut kernel);
    let n = push(&mut kernel, Ty::U32, Op::Add, &[index.into(), one]);
    let steps = push(&mut kernel, Ty::U32, Op::Move, &[Operand::u32(0)]);
    let to = slot(&mut kernel, params[0], index);
    let [more, odd] = ["more", "odd"].map(|name| kernel.register(Ty::Pred, name));
    let low = kernel.register(Ty::U32, "low");
    kernel.body.push(Inst::Loop {
        before: vec![set(more, Op::Compare(Relation::Ne), &[n.into(), one])],
        cond: more.into(),
        body: vec![
            set(low, Op::And, &[n.into(), one]),
            set(odd, Op::Compare(Relation::Eq), &[low.into(), one]),
            Inst::If {
                cond: odd.into(),
                then: vec![set(n, Op::Mul, &[n.into(), Operand::u32(3)]), set(n, Op::Add, &[n.into(), one])],
                otherwise: vec![set(n, Op::Shr, &[n.into(), one])],
            },
            set(steps, Op::Add, &[steps.into(), one]),
        ],
    });
    kernel.body.push(Inst::Store { to, value: steps.into(), ty: Ty::U32 });
    let mut buffers = [vec![0; COUNT]];
    run(&kernel, &mut buffers);
    for (t, found) in buffers[0].iter().enumerate() {
        let (mut n, mut steps) = (t as u64 + 1, 0);
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        assert_eq!(*found, steps, "{t}");
    }
}

/// A warp adds up by shuffles, a block in shared memory, the grid by one reduction for each block.
fn sum_kernel(ty: Ty) -> Kernel {
    let (mut kernel, params) = builder("sum", &["values", "total"]);
    kernel.shared_bytes = 16;
    let zero = Operand::u32(0);
    let index = thread(&mut kernel);
    let from = slot(&mut kernel, params[0], index);
    let value = kernel.register(ty, "value");
    kernel.body.push(Inst::Load { to: value, from, read_only: true });
    for mask in [16, 8, 4, 2, 1] {
        let other = kernel.register(ty, "other");
        kernel.body.push(Inst::Shuffle { to: other, value: value.into(), mask });
        kernel.body.push(set(value, Op::Add, &[value.into(), other.into()]));
    }
    let [lane, tid] = [Special::Lane, Special::ThreadInBlock].map(|what| special(&mut kernel, what));
    let warp = push(&mut kernel, Ty::U32, Op::Shr, &[tid.into(), Operand::u32(5)]);
    let warp = push(&mut kernel, Ty::U64, Op::Convert, &[warp.into()]);
    let base = push(&mut kernel, Ty::U64, Op::Mul, &[warp.into(), Operand::u64(8)]).into();
    let first = push(&mut kernel, Ty::Pred, Op::Compare(Relation::Eq), &[lane.into(), zero]);
    let to = Address { space: Space::Shared, base, offset: 0 };
    let store = Inst::Store { to, value: value.into(), ty };
    kernel.body.push(Inst::If { cond: first.into(), then: vec![store], otherwise: vec![] });
    kernel.body.push(Inst::Barrier);
    let leader = push(&mut kernel, Ty::Pred, Op::Compare(Relation::Eq), &[tid.into(), zero]);
    let [(a, load_a), (b, load_b)] = [0, 8].map(|offset| {
        let to = kernel.register(ty, "part");
        let from = Address { space: Space::Shared, base: Operand::u64(0), offset };
        (to, Inst::Load { to, from, read_only: false })
    });
    let sum = kernel.register(ty, "sum");
    let to = Address { space: Space::Global, base: params[1].into(), offset: 0 };
    let add = set(sum, Op::Add, &[a.into(), b.into()]);
    let reduce = Inst::Reduce { to, op: Atomic::Add, value: sum.into(), ty };
    let then = vec![load_a, load_b, add, reduce];
    kernel.body.push(Inst::If { cond: leader.into(), then, otherwise: vec![] });
    kernel
}

#[test]
fn a_grid_adds_up() {
    for ty in [Ty::F64, Ty::F32, Ty::I32, Ty::U64] {
        let bits = |v: usize| match ty {
            Ty::F64 => (v as f64).to_bits(),
            Ty::F32 => (v as f32).to_bits().into(),
            _ => v as u64,
        };
        let mut buffers = [(0..COUNT).map(bits).collect(), vec![bits(3)]];
        run(&sum_kernel(ty), &mut buffers);
        assert_eq!(buffers[1][0], bits(COUNT * (COUNT - 1) / 2 + 3), "{ty:?}");
    }
}

/// Every thread changes two words of `total` and stores what it found in the second.
fn atomic_kernel(op: Atomic, ty: Ty) -> Kernel {
    let (mut kernel, params) = builder("reduce", &["values", "total", "seen"]);
    let index = thread(&mut kernel);
    let from = slot(&mut kernel, params[0], index);
    let [value, old] = ["value", "old"].map(|name| kernel.register(ty, name));
    kernel.body.push(Inst::Load { to: value, from, read_only: false });
    let to = Address { space: Space::Global, base: params[1].into(), offset: 8 };
    kernel.body.push(Inst::Reduce { to, op, value: value.into(), ty });
    let second = Address { offset: 16, ..to };
    kernel.body.push(Inst::Fetch { old, to: second, op, value: value.into() });
    let to = slot(&mut kernel, params[2], index);
    kernel.body.push(Inst::Store { to, value: old.into(), ty });
    kernel
}

#[test]
fn atomic_operations() {
    for ty in [Ty::I32, Ty::U32, Ty::I64, Ty::U64] {
        for op in [Atomic::Add, Atomic::Xor, Atomic::Min, Atomic::Max] {
            let mut values = Values(ty.size() as u64 + 99);
            let list: Vec<u64> = (0..COUNT).map(|_| values.of(ty)).collect();
            let mut buffers = [list, vec![0, 5, 5], vec![0; COUNT]];
            let text = run(&atomic_kernel(op, ty), &mut buffers);
            let step = |a: u64, b: u64| match op {
                Atomic::Add => integer(Op::Add, ty, &[a, b]),
                Atomic::Xor => a ^ b,
                Atomic::Min => integer(Op::Min, ty, &[a, b]),
                Atomic::Max => integer(Op::Max, ty, &[a, b]),
            };
            let total = cut(buffers[0].iter().fold(5, |a, b| step(a, *b)), ty);
            assert_eq!((buffers[1][1], buffers[1][2]), (total, total), "{ty:?} {op:?}\n{text}");
            assert!(buffers[2].contains(&5), "one thread comes first");
        }
    }
}

#[test]
fn local_memory_is_each_threads_own() {
    let (mut kernel, params) = builder("own", &["out"]);
    kernel.local_bytes = 32;
    let index = thread(&mut kernel);
    let wide = push(&mut kernel, Ty::U64, Op::Convert, &[index.into()]);
    let at = push(&mut kernel, Ty::U64, Op::And, &[wide.into(), Operand::u64(3)]);
    let base = push(&mut kernel, Ty::U64, Op::Mul, &[at.into(), Operand::u64(8)]).into();
    let place = Address { space: Space::Local, base, offset: 0 };
    kernel.body.push(Inst::Store { to: place, value: wide.into(), ty: Ty::U64 });
    let value = kernel.register(Ty::U64, "value");
    kernel.body.push(Inst::Load { to: value, from: place, read_only: false });
    let to = slot(&mut kernel, params[0], index);
    kernel.body.push(Inst::Store { to, value: value.into(), ty: Ty::U64 });
    let mut buffers = [vec![0; COUNT]];
    run(&kernel, &mut buffers);
    assert_eq!(buffers[0], (0..COUNT as u64).collect::<Vec<_>>());
}

#[test]
fn the_first_failure_is_recorded_and_its_thread_ends() {
    let (mut kernel, params) = builder("fail", &["out", "errors"]);
    kernel.error_record = Some(params[1]);
    let index = thread(&mut kernel);
    let limit = Operand::u32(100);
    let high = push(&mut kernel, Ty::Pred, Op::Compare(Relation::Ge), &[index.into(), limit]);
    let values = vec![index.into(), Operand::f64(2.5), Operand::Const(0xff, Ty::I8)];
    let fail = Inst::Fail { failure: 6, values };
    kernel.body.push(Inst::If { cond: high.into(), then: vec![fail], otherwise: vec![] });
    let to = slot(&mut kernel, params[0], index);
    kernel.body.push(Inst::Store { to, value: Operand::u64(1), ty: Ty::U64 });
    let mut buffers = [vec![0; COUNT], vec![0; ERROR_RECORD_BYTES / 8]];
    run(&kernel, &mut buffers);
    assert_eq!(buffers[0].iter().sum::<u64>(), 100);
    let record = &buffers[1];
    assert_eq!((record[0] as u32, record[2], record[3]), (7, 2.5f64.to_bits(), u64::MAX));
    assert!((100..COUNT as u64).contains(&record[1]), "{record:x?}");
}
