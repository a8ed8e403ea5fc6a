//! Sums that the iterations of a parallel loop share, by every strategy, on the emulator, and on CUDA
//! where there is a GPU: against the reference interpreter, which knows nothing of strategies.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::device::DynamicDevice;
use rev_core::error::Error;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module};
use rev_core::tolerance::Options;
use rev_core::value::{Array, Data, DynArg};
use rev_cuda::driver::Driver;
use rev_cuda::lower::LowerOptions;
use rev_cuda::plan::Strategy;
use rev_cuda::{Cuda, Emulator, Gpu};

const ADJOINT: Direction = Direction::ADJOINT;

/// An argument of any type.
struct Held(Data);

impl DynArg for Held {
    fn load(&self) -> Data {
        self.0.clone()
    }

    fn store(&mut self, data: &Data) -> Result<(), Error> {
        self.0 = data.clone();
        Ok(())
    }
}

fn module(text: &str) -> Module {
    let module = rev_core::text::parse_module(text).unwrap();
    rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", "")))
}

fn run<D: Driver>(gpu: &Gpu<D>, m: &Module, direction: Direction, args: &[Data]) -> Result<Vec<Data>, Error> {
    let mut args: Vec<Held> = args.iter().cloned().map(Held).collect();
    let mut given: Vec<&mut dyn DynArg> = args.iter_mut().map(|a| a as &mut dyn DynArg).collect();
    gpu.execute(m, direction, &mut given)?;
    Ok(args.into_iter().map(|a| a.0).collect())
}

fn interpret(m: &Module, direction: Direction, args: &[Data], deterministic: bool) -> Vec<Data> {
    let options = Options { checks: false, deterministic, ..Options::default() };
    let mut machine = Machine::new(m, &m.entry, direction, args.to_vec()).unwrap().with_options(options);
    machine.run().unwrap();
    machine.arguments()
}

/// Small blocks, so that short loops have several.
fn small<D: Driver>(gpu: Gpu<D>) -> Gpu<D> {
    gpu.kernels(LowerOptions { block: 64, max_blocks: 3, ..LowerOptions::default() })
}

/// Does something on the emulator, and on a GPU where there is one.
macro_rules! on_devices {
    ($check:expr) => {{
        let check = $check;
        check.on(&small(Emulator::new()));
        match Cuda::new(0) {
            Ok(gpu) => check.on(&small(gpu)),
            Err(e) => eprintln!("skipped on CUDA: {e}"),
        }
    }};
}

fn reals(values: impl IntoIterator<Item = f64>) -> Data {
    Data::vector(values.into_iter().map(Data::scalar).collect())
}

/// Numbers whose sums are rounded.
fn waves(n: usize) -> Data {
    reals((0..n).map(|i| (i as f64 * 0.7).sin()))
}

/// Numbers whose sums are exact in any order.
fn wholes(n: usize) -> Data {
    reals((0..n).map(|i| ((i * 7) % 13) as f64 - 6.0))
}

fn indices(values: impl IntoIterator<Item = usize>) -> Data {
    Data::vector(values.into_iter().map(Data::scalar).collect())
}

fn scatter() -> Module {
    module(
        "module scatter
         fn scatter<T: Real>(y: &mut [T], x: [T], to: [usize]) {
             par for i in 0..len(x) { y[to[i]] += x[i] * x[i] }
         }",
    )
}

/// What an index array does to a table of 5 or 300 elements.
fn collisions(n: usize) -> [(usize, Data); 4] {
    [
        (5, indices((0..n).map(|_| 3))),
        (5, indices((0..n).map(|i| (i * i) % 5))),
        (300, indices((0..n).map(|i| (i * 131) % 300))),
        (300, indices((0..n).map(|i| if i % 16 == 0 { i % 300 } else { 7 }))),
    ]
}

struct EveryStrategy;

impl EveryStrategy {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        let m = scatter();
        for n in [0, 1, 31, 32, 33, 1023, 3000] {
            for (elements, to) in collisions(n) {
                let args = [wholes(elements), wholes(n), to];
                let expected = format!("{:?}", interpret(&m, Direction::FORWARD, &args, false));
                use Strategy::{Atomic, BlockTable, Segmented, Tree};
                for strategy in [Atomic, BlockTable, Segmented, Tree] {
                    let found = run(&gpu.clone().sums(strategy), &m, Direction::FORWARD, &args).unwrap();
                    assert_eq!(format!("{found:?}"), expected, "{strategy:?}, {n} into {elements}");
                }
                let found = run(gpu, &m, Direction::FORWARD, &args).unwrap();
                assert_eq!(format!("{found:?}"), expected, "chosen freely, {n} into {elements}");
            }
        }
    }
}

#[test]
fn every_strategy_adds_up_heavy_collisions() {
    on_devices!(EveryStrategy);
}

struct FixedOrder;

impl FixedOrder {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        let (m, gpu) = (scatter(), gpu.clone().deterministic(true));
        for n in [1, 255, 257, 1023, 3000] {
            for (elements, to) in collisions(n) {
                let args = [waves(elements), waves(n), to];
                let expected = format!("{:?}", interpret(&m, Direction::FORWARD, &args, true));
                for strategy in [None, Some(Strategy::Segmented), Some(Strategy::Tree)] {
                    let gpu = strategy.map_or(gpu.clone(), |s| gpu.clone().sums(s));
                    for _ in 0..2 {
                        let found = run(&gpu, &m, Direction::FORWARD, &args).unwrap();
                        assert_eq!(format!("{found:?}"), expected, "{strategy:?}, {n} into {elements}");
                    }
                }
            }
        }
    }
}

#[test]
fn in_one_order_segments_and_the_tree_have_the_interpreters_bits() {
    on_devices!(FixedOrder);
}

struct SharedScalar;

impl SharedScalar {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        let m = module(
            "module axpy
             fn axpy<T: Real>(y: &mut [T], a: T, x: [T]) {
                 par for i in 0..len(y) { y[i] += a * x[i] }
             }",
        );
        for n in [0, 1, 31, 32, 33, 1023, 10_000] {
            let adjoint = |x: Data, y_bar: Data| {
                [wholes(n), y_bar, Data::scalar(1.5), Data::scalar(0.0), x.clone(), x.zero_like()]
            };
            // whole numbers are added up without rounding in any order: the sum of x times the seed
            let args = adjoint(wholes(n), wholes(n));
            let square = |i: usize| (((i * 7) % 13) as f64 - 6.0).powi(2);
            let expected = (0..n).map(square).fold(0.0, |sum, x| sum + x);
            for gpu in [gpu.clone(), gpu.clone().sums(Strategy::Uniform), gpu.clone().sums(Strategy::Atomic)]
            {
                // of `y_bar`, `a_bar` and `x_bar` only the second is shared
                let found = run(&gpu, &m, ADJOINT, &args).unwrap();
                assert_eq!(format!("{:?}", found[3]), format!("{:?}", Data::scalar(expected)), "{n}");
            }
            let args = adjoint(waves(n), waves(n));
            let expected = format!("{:?}", interpret(&m, ADJOINT, &args, true));
            let found = run(&gpu.clone().deterministic(true), &m, ADJOINT, &args).unwrap();
            assert_eq!(format!("{found:?}"), expected, "{n}");
        }
    }
}

#[test]
fn a_scalar_that_every_iteration_reads() {
    on_devices!(SharedScalar);
}

struct InsideKernels;

impl InsideKernels {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        // a parallel loop inside a parallel loop is one of its threads' own
        let m = module(
            "module rows
             fn rows<T: Real>(y: &mut [T], bins: &mut [T], x: [T], to: [usize]) {
                 par for i in 0..len(y) {
                     par for j in 0..len(x) { y[i] += x[j] * x[j] }
                     par for j in 0..len(x) { bins[to[j]] += x[j] }
                 }
             }",
        );
        let gpu = gpu.clone().deterministic(true);
        for n in [0, 1, 256, 257, 511, 512, 513, 1300, 2900] {
            let to = indices((0..n).map(|i| (i * i) % 3));
            let args = [waves(3), waves(4), waves(n), to.clone()];
            let expected = interpret(&m, Direction::FORWARD, &args, true);
            let found = run(&gpu, &m, Direction::FORWARD, &args).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{n}");
            let seeds = [waves(3), waves(4), waves(n).zero_like(), to.zero_shadow()];
            let both: Vec<Data> = expected.iter().zip(seeds).flat_map(|(a, s)| [a.clone(), s]).collect();
            let expected = interpret(&m, ADJOINT, &both, true);
            let found = run(&gpu, &m, ADJOINT, &both).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{n}, adjoint");
        }
    }
}

#[test]
fn loops_inside_kernels_add_up_by_the_tree_however_long_they_are() {
    on_devices!(InsideKernels);
}

struct PartsOfOthers;

impl PartsOfOthers {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        // each thread adds to a part of its own of what is in memory for all of them
        let gpu = gpu.clone().deterministic(true);
        for (declared, adds) in [
            ("", "y[i]"),
            ("", "y[2 - i]"),
            ("", "y[i + (j & 0)]"),
            ("", "rows[0][i]"),
            ("", "rows[j & 1][i]"),
            ("", "pairs[i].b"),
            ("", "grid[i][j & 1]"),
            ("", "table[i, j & 1]"),
            ("", "table[i, 1]"),
            (" disjoint(y)", "y[i]"),
            (" disjoint(table)", "table[i, j & 1]"),
        ] {
            let m = module(&format!(
                "module parts
                 struct Pair<T: Scalar> {{ a: T, b: T }}
                 fn parts<T: Real>(y: &mut [T; 3], rows: &mut [[T; 3]], pairs: &mut [Pair<T>; 3],
                                   grid: &mut [[T; 2]; 3], table: &mut Array2<T>, x: [T]) {{
                     par for i in 0..3{declared} {{
                         par for j in 0..len(x) {{ {adds} += x[j] * x[j] }}
                     }}
                 }}"
            ));
            for n in [0, 1, 300, 1300] {
                let part = |k: usize| {
                    Data::record("Pair", [("a", Data::scalar(k as f64)), ("b", Data::scalar(0.5))])
                };
                let args = [
                    waves(3),
                    Data::vector(vec![waves(3), waves(3)]),
                    Data::vector((0..3).map(part).collect()),
                    Data::vector((0..3).map(|_| waves(2)).collect()),
                    Data::Array(Array { shape: vec![3, 2], elements: vec![Data::scalar(0.3); 6] }),
                    waves(n),
                ];
                let expected = interpret(&m, Direction::FORWARD, &args, true);
                let found = run(&gpu, &m, Direction::FORWARD, &args).unwrap();
                assert_eq!(format!("{found:?}"), format!("{expected:?}"), "{adds}, {n}");
            }
        }
    }
}

#[test]
fn a_thread_adds_to_no_part_that_is_anothers() {
    on_devices!(PartsOfOthers);
}

struct NoTrips;

impl NoTrips {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        // an index that no iteration uses may be out of range
        let m = module(
            "module none
             fn none<T: Real>(y: &mut [T], z: &mut [T; 3], x: [T]) {
                 par for i in 3..6 {
                     par for j in 0..len(x) {
                         y[i] += x[j]
                         z[i] += x[j]
                     }
                 }
             }",
        );
        let gpu = gpu.clone().deterministic(true).checks(true);
        let args = [waves(3), waves(3), waves(0)];
        let found = run(&gpu, &m, Direction::FORWARD, &args).unwrap();
        assert_eq!(format!("{found:?}"), format!("{args:?}"));
        let error = run(&gpu, &m, Direction::FORWARD, &[waves(3), waves(3), waves(1)]).unwrap_err();
        assert!(error.to_string().contains("`y[i]`"), "{error}");
    }
}

#[test]
fn a_sum_without_terms_needs_no_index_in_range() {
    on_devices!(NoTrips);
}

struct Integers;

impl Integers {
    fn on<D: Driver>(&self, gpu: &Gpu<D>) {
        let m = module(
            "module whole
             fn whole(a: &mut [u8], b: &mut i8, c: &mut [i16], d: &mut u16, e: &mut [i128], f: &mut u128,
                      g: &mut [u8], x: [i64], w: [i128], v: [u128], to: [usize]) {
                 par for i in 0..len(x) {
                     a[to[i]] += x[i] as u8
                     b += x[i] as i8
                     c[to[i]] -= x[i] as i16
                     d += x[i] as u16
                     e[to[i]] += w[i]
                     f -= v[i]
                     g[to[i]] ^= x[i] as u8
                 }
             }",
        );
        let n = 1000;
        let x = Data::vector(
            (0..n).map(|i| Data::scalar((i as i64).wrapping_mul(0x1234_5678_9abc_def1) >> 3)).collect(),
        );
        let wide = |i: usize| (i as u128).wrapping_mul(0x1234_5678_9abc_def1_2345_6789_abcd_ef13);
        let fill = |v: Data| Data::vector(vec![v; 7]);
        let args = [
            fill(Data::scalar(250u8)),
            Data::scalar(-100i8),
            fill(Data::scalar(-5i16)),
            Data::scalar(65000u16),
            fill(Data::scalar(i128::MAX)),
            Data::scalar(u128::from(u64::MAX)),
            fill(Data::scalar(0x5au8)),
            x,
            Data::vector((0..n).map(|i| Data::scalar(wide(i) as i128)).collect()),
            Data::vector((0..n).map(|i| Data::scalar(wide(i))).collect()),
            indices((0..n).map(|i| (i * i) % 7)),
        ];
        for gpu in [gpu.clone(), gpu.clone().deterministic(true), gpu.clone().sums(Strategy::Atomic)] {
            let expected = interpret(&m, Direction::FORWARD, &args, false);
            let found = run(&gpu, &m, Direction::FORWARD, &args).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
            let expected = interpret(&m, Direction::INVERSE, &expected, false);
            let found = run(&gpu, &m, Direction::INVERSE, &found).unwrap();
            assert_eq!(format!("{found:?}"), format!("{expected:?}"));
        }
    }
}

#[test]
fn integers_of_every_size() {
    on_devices!(Integers);
}

#[test]
fn a_strategy_is_chosen_by_size_and_by_how_often_terms_meet() {
    let m = scatter();
    let chosen = |elements: usize, to: Data, deterministic: bool| {
        let Data::Array(index) = &to else { panic!("{to:?}") };
        let n = index.shape[0];
        let (y, x, to) = (Held(wholes(elements)), Held(wholes(n)), Held(to));
        let gpu = Emulator::new().deterministic(deterministic);
        let program = gpu.prepare(&m, Direction::FORWARD, &[&y, &x, &to]).unwrap();
        let all = program.accumulations();
        let own = all.iter().find(|a| a.place == "y").unwrap();
        (own.strategy, own.to_string())
    };
    let each = |n: usize, m: usize| indices((0..n).map(move |i| i % m));
    let (few, text) = chosen(300, each(300, 300), false);
    assert_eq!(few, Strategy::Atomic);
    assert!(text.ends_with("any order; fewer than 128 terms meet in an element"), "{text}");
    assert_eq!(chosen(300, each(38_399, 300), false).0, Strategy::Atomic);
    assert_eq!(chosen(300, each(38_400, 300), false).0, Strategy::BlockTable);
    let (many, text) = chosen(20, each(3000, 20), false);
    assert_eq!(many, Strategy::BlockTable);
    assert!(text.contains("block-table (a table for each block") && text.contains("128 or more"), "{text}");
    // the table doesn't fit into shared memory, though few of its elements are added to
    assert_eq!(chosen(5120, each(3000, 20), false).0, Strategy::BlockTable);
    assert_eq!(chosen(5121, each(3000, 20), false).0, Strategy::Atomic);
    assert_eq!(chosen(300, each(3000, 300), true).0, Strategy::Segmented);
}

#[test]
fn what_is_compiled_for_one_content_is_not_used_for_another() {
    let m = scatter();
    let gpu = Emulator::new();
    let to = |elements: usize| indices((0..600).map(move |i| i % elements));
    let run_on = |elements: usize, to: Data| {
        let args = [wholes(elements), wholes(600), to];
        let expected = interpret(&m, Direction::FORWARD, &args, false);
        assert_eq!(run(&gpu, &m, Direction::FORWARD, &args).unwrap(), expected);
    };
    run_on(4, to(4));
    run_on(3, to(3));
    assert_eq!(gpu.compiled(), 1);
    run_on(600, to(600));
    run_on(8000, to(600));
    assert_eq!(gpu.compiled(), 3);
    // the same arrays on the device, of other sizes and contents than those that were prepared
    let held = |data: Data| Held(data);
    let (y, x, few) = (held(wholes(4)), held(wholes(600)), held(to(4)));
    let program = gpu.prepare(&m, Direction::FORWARD, &[&y, &x, &few]).unwrap();
    let mut index = program.upload(2, &few).unwrap();
    let (values, large) = (program.upload(1, &x).unwrap(), program.upload(0, &held(wholes(8000))).unwrap());
    for to in [to(4), to(600), to(50)] {
        index.replace(&held(to.clone())).unwrap();
        let before = [wholes(8000), wholes(600), to];
        let expected = interpret(&m, Direction::FORWARD, &before, false);
        let mut table = program.upload(0, &held(wholes(8000))).unwrap();
        program.run(&[&table, &values, &index]).unwrap();
        let mut found = held(wholes(8000));
        table.download(&mut found).unwrap();
        assert_eq!(found.0, expected[0]);
        table.clear().unwrap();
    }
    drop(large);
}

#[test]
fn what_cannot_be_forced_says_why() {
    let m = module(
        "module several
         fn several<T: Real>(total: &mut T, y: &mut [T], x: [T], to: [usize]) {
             par for i in 0..len(x) { y[to[i]] += x[i] y[i % 2] += x[i] total += x[i] }
         }",
    );
    let refused =
        |gpu: Emulator, args: &[Data]| run(&gpu, &m, Direction::FORWARD, args).unwrap_err().to_string();
    let args = [Data::scalar(0.0), wholes(5), wholes(40), indices((0..40).map(|i| i % 5))];
    let on = Emulator::new;
    for (gpu, expected) in [
        (
            on().sums(Strategy::Exclusive),
            "`total` can't be added up by exclusive: several iterations may add",
        ),
        (
            on().sums_into("y", Strategy::Uniform),
            "`y` can't be added up by uniform: terms are added to elements with different indices",
        ),
        (on().sums_into("y", Strategy::Segmented), "`y` can't be added up by segmented: terms are added to"),
        (
            on().sums_into("total", Strategy::Segmented),
            "`total` can't be added up by segmented: it isn't an array",
        ),
        (
            on().deterministic(true).sums_into("total", Strategy::Uniform),
            "`total` can't be added up by uniform: its order isn't fixed, as the deterministic mode asks",
        ),
        (
            on().checks(true).sums_into("y", Strategy::BlockTable),
            "`y` can't be added up by block-table: a thread of the kernel can fail",
        ),
    ] {
        let message = refused(gpu, &args);
        assert!(message.contains(expected), "{message}");
    }
    let large = [Data::scalar(0.0), wholes(6000), wholes(40), indices(0..40)];
    let message = refused(on().sums_into("y", Strategy::BlockTable), &large);
    assert!(
        message.contains("`y` can't be added up by block-table: the tables of a kernel have 40960 bytes"),
        "{message}"
    );
    let beyond = [wholes(5), wholes(2), indices([1, 9])];
    let error = run(&on().sums(Strategy::Segmented), &scatter(), Direction::FORWARD, &beyond).unwrap_err();
    assert!(error.to_string().contains("`y`: index [9] is out of range for the shape [5]"), "{error}");
}

#[test]
fn an_element_that_does_not_depend_on_the_iteration_is_a_sum_in_registers() {
    let m = module(
        "module one
         fn one<T: Real>(y: &mut [T], a: [T], x: [T], k: usize) {
             par for i in 0..len(y) { y[i] += a[k] * x[i] }
         }",
    );
    let x = wholes(300);
    let a = reals([5.0, 2.0]);
    let seeds = [wholes(300), a.zero_like(), x.zero_like(), Data::None];
    let args = [wholes(300), a, x, Data::scalar(1usize)];
    let both: Vec<Data> = args.iter().zip(&seeds).flat_map(|(a, s)| [a.clone(), s.clone()]).collect();
    let gpu = small(Emulator::new()).sums_into("a_bar", Strategy::Uniform);
    let found = run(&gpu, &m, ADJOINT, &both).unwrap();
    assert_eq!(found, interpret(&m, ADJOINT, &both, false));
}

/// Terms of a whole warp for one element of a table are added up by shuffles, and added to the table once;
/// where lanes are missing or mean different elements each adds for itself.
#[test]
fn a_warp_adds_to_one_element_once() {
    let m = module(
        "module tables
         fn tables<T: Real>(y: &mut [T], x: [T], to: [usize]) {
             par for i in 0..len(x) { for k in 0..len(y) { y[k] += x[i] } y[to[i]] += 1 }
         }",
    );
    let atomics = |n: usize, of: &dyn Fn(usize) -> usize| {
        let emulator = rev_cuda::emulator::Emulator::new();
        let gpu = small(Gpu::over(emulator)).sums(Strategy::BlockTable);
        let args = [wholes(5), wholes(n), indices((0..n).map(of))];
        assert_eq!(
            run(&gpu, &m, Direction::FORWARD, &args).unwrap(),
            interpret(&m, Direction::FORWARD, &args, false)
        );
        gpu.driver().traffic().atomics
    };
    // 5 elements and one more for each of 6 warps, and 5 for each of 3 blocks
    assert_eq!(atomics(192, &|_| 3), 6 * (5 + 1) + 3 * 5);
    assert_eq!(atomics(192, &|i| i % 5), 6 * (5 + 32) + 3 * 5);
    // a warp that isn't whole
    assert_eq!(atomics(193, &|_| 3), 6 * (5 + 1) + 5 + 1 + 3 * 5);
}

/// An iteration's terms are kept in registers that stand for the sum: in that kernel only, whose registers others have the
/// numbers of.
#[test]
fn what_follows_a_loop_whose_terms_are_kept_adds_to_its_own() {
    let m = module(
        "module after
         fn after(y: &mut f64, z: &mut f64) {
             par for i in 0..3 { y += 0.39 }
             managed anc a: i64 = 2i64 { a -= 5i64 z += a as f64 }
         }",
    );
    let args = [Data::scalar(0.5), Data::scalar(0.25)];
    let found = run(&small(Emulator::new()).deterministic(true), &m, Direction::FORWARD, &args).unwrap();
    let expected = interpret(&m, Direction::FORWARD, &args, true);
    assert_eq!(format!("{found:?}"), format!("{expected:?}"));
    assert_eq!(format!("{:?}", found[1]), format!("{:?}", Data::scalar(-2.75)));
}
