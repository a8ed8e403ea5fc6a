//! What the threads of a printed kernel do together and apart, on the emulator and on a GPU where there is one: loops whose trips
//! differ, sums through shuffles and shared memory, memory of their own, failures.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_cuda::cuda::CudaDriver;
use rev_cuda::driver::{Driver, Target};
use rev_cuda::emulator::Emulator;
use rev_cuda::kernel::{
    Address, Atomic, Inst, Kernel, KernelParam, Op, Operand, Reg, Relation, Space, Special, Ty,
    ERROR_RECORD_BYTES,
};

/// Threads of a run, in blocks of 64.
const COUNT: usize = 512;

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

/// What a kernel of [`COUNT`] threads makes of buffers of slots, on the emulator and on a GPU where there is one.
fn run(kernel: &Kernel, buffers: &[Vec<u64>]) -> Vec<Vec<Vec<u64>>> {
    let mut drivers: Vec<Box<dyn Driver>> = vec![Box::new(Emulator::new())];
    match CudaDriver::new(0) {
        Ok(gpu) => drivers.push(Box::new(gpu)),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
    drivers
        .iter()
        .map(|driver| {
            let mut buffers = buffers.to_vec();
            run_on(&**driver, kernel, &mut buffers);
            buffers
        })
        .collect()
}

fn run_on(device: &dyn Driver, kernel: &Kernel, buffers: &mut [Vec<u64>]) {
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
        device.free(address);
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
    let steps = |t: u64| {
        let (mut n, mut steps) = (t + 1, 0);
        while n != 1 {
            n = if n % 2 == 1 { 3 * n + 1 } else { n / 2 };
            steps += 1;
        }
        steps
    };
    let expected: Vec<u64> = (0..COUNT as u64).map(steps).collect();
    for found in run(&kernel, &[vec![0; COUNT]]) {
        assert_eq!(found[0], expected);
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
        for found in run(&sum_kernel(ty), &[(0..COUNT).map(bits).collect(), vec![bits(3)]]) {
            assert_eq!(found[1][0], bits(COUNT * (COUNT - 1) / 2 + 3), "{ty:?}");
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
    for found in run(&kernel, &[vec![0; COUNT]]) {
        assert_eq!(found[0], (0..COUNT as u64).collect::<Vec<_>>());
    }
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
    for found in run(&kernel, &[vec![0; COUNT], vec![0; ERROR_RECORD_BYTES / 8]]) {
        assert_eq!(found[0].iter().sum::<u64>(), 100);
        let record = &found[1];
        assert_eq!((record[0] as u32, record[2], record[3]), (7, 2.5f64.to_bits(), u64::MAX));
        assert!((100..COUNT as u64).contains(&record[1]), "{record:x?}");
    }
}
