//! What a call asks of the driver: memory once, kernels for each trip of the host's loops, waiting only
//! where something is read back; and what is left on the host when the driver fails.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use approx::assert_abs_diff_eq;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::Mutex;

use rev_core::device::DynamicDevice;
use rev_core::error::{Cause, Error};
use rev_core::interp::Interpreter;
use rev_core::ir::{Direction, Module};
use rev_core::limits::NESTING;
use rev_core::tolerance::Options;
use rev_core::value::{DynArg, Stack};
use rev_cuda::driver::{Driver, ModuleHandle, Target};
use rev_cuda::emulator::Emulator;
use rev_cuda::lower::LowerOptions;
use rev_cuda::runtime::Gpu;

const ADJOINT: Direction = Direction::ADJOINT;

/// The emulator, with a list of what it was asked for, which is lost after a number of requests.
struct Watched {
    emulator: Emulator,
    log: Mutex<Vec<String>>,
    /// The room of each array, and the threads of each kernel.
    sizes: Mutex<Vec<(String, usize)>>,
    left: AtomicUsize,
    /// Whether it is memory that is missing.
    full: bool,
}

impl Watched {
    fn new() -> Watched {
        Watched {
            emulator: Emulator::new(),
            log: Mutex::default(),
            sizes: Mutex::default(),
            left: AtomicUsize::new(usize::MAX),
            full: false,
        }
    }

    /// Lost after some requests; or full after some allocations.
    fn failing(after: usize, full: bool) -> Gpu<Watched> {
        let driver = Watched { left: AtomicUsize::new(after), full, ..Watched::new() };
        Gpu::over(driver).kernels(options())
    }

    fn note(&self, what: impl Into<String>) -> Result<(), Error> {
        self.log.lock().unwrap().push(what.into());
        match self.full {
            true => Ok(()),
            false => self.use_up("the device is lost"),
        }
    }

    fn use_up(&self, reason: &str) -> Result<(), Error> {
        let less = |left: usize| left.checked_sub(1);
        match self.left.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less) {
            Ok(_) => Ok(()),
            Err(_) => Err(Cause::Device { device: "watched".into(), reason: reason.into() }.into()),
        }
    }

    /// What was asked for since the last time.
    fn take(&self) -> Vec<String> {
        std::mem::take(&mut self.log.lock().unwrap())
    }
}

impl Driver for Watched {
    fn name(&self) -> &str {
        "watched"
    }
    fn target(&self) -> Target {
        self.emulator.target()
    }
    fn load(&self, ptx: &str) -> Result<ModuleHandle, Error> {
        self.note("load")?;
        self.emulator.load(ptx)
    }
    fn allocate(&self, name: &str, bytes: usize) -> Result<u64, Error> {
        self.note(format!("allocate {name}"))?;
        self.sizes.lock().unwrap().push((name.into(), bytes));
        if self.full {
            self.use_up(&format!("no room for `{name}`: {bytes} bytes"))?;
        }
        self.emulator.allocate(name, bytes)
    }
    fn free(&self, address: u64) {
        self.emulator.free(address);
    }
    fn upload(&self, to: u64, bytes: &[u8]) -> Result<(), Error> {
        self.note("upload")?;
        self.emulator.upload(to, bytes)
    }
    fn download(&self, from: u64, bytes: &mut [u8]) -> Result<(), Error> {
        self.note("download")?;
        self.emulator.download(from, bytes)
    }
    fn clear(&self, at: u64, bytes: usize) -> Result<(), Error> {
        self.note("clear")?;
        self.emulator.clear(at, bytes)
    }
    fn copy(&self, to: u64, from: u64, bytes: usize) -> Result<(), Error> {
        self.note("copy")?;
        self.emulator.copy(to, from, bytes)
    }
    fn launch(
        &self,
        module: ModuleHandle,
        kernel: &str,
        grid: u32,
        block: u32,
        params: &[Vec<u8>],
    ) -> Result<(), Error> {
        self.note(format!("launch {kernel}"))?;
        self.sizes.lock().unwrap().push((kernel.into(), (grid * block) as usize));
        self.emulator.launch(module, kernel, grid, block, params)
    }
    fn synchronize(&self) -> Result<(), Error> {
        self.note("synchronize")?;
        self.emulator.synchronize()
    }
}

fn options() -> LowerOptions {
    LowerOptions { block: 32, stack_capacity: 8, ..LowerOptions::default() }
}

fn module(text: &str) -> Module {
    let module = rev_core::text::parse_module(text).unwrap();
    rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", "")))
}

/// Arrays of each iteration, shared sums, a stack, a value that the host reads back.
fn busy() -> Module {
    module(
        "module busy
         fn busy<T: Real>(total: &mut T, s: &mut Stack<T>, y: &mut [T], x: [T], n: [usize]) {
             anc k: usize = 0 {
                 for j in 0..2 { k += n[j] }
                 for step in 0..k {
                     par for i in 0..len(y) {
                         anc t: [T] = fill(0, len(x)) {
                             for j in 0..len(x) { t[j] += x[j] * x[j] }
                             y[i] += t[0] * x[1]
                             for j in 0..len(x) { t[j] -= x[j] * x[j] }
                             release t = fill(0, len(x))
                         }
                         total += x[0]
                     }
                 }
                 for j in 0..2 { k -= n[j] }
                 release k = 0
             }
             anc u: T = 0 { u += x[0] push(s, u) }
         }",
    )
}

type State = (f64, Stack<f64>, Vec<f64>, Vec<f64>, Vec<usize>);

fn state() -> State {
    (0.5, Stack::from(vec![1.0]), vec![0.25; 40], vec![1.5, -2.0, 3.0], vec![1, 2])
}

fn run(gpu: &Gpu<Watched>, direction: Direction, s: &mut State) -> Result<(), Error> {
    let bars = |v: &Vec<f64>| vec![1.0; v.len()];
    let (mut total, mut stack, mut y, mut x) = (1.0, s.1.clone(), bars(&s.2), bars(&s.3));
    match direction.adjoint {
        0 => gpu.execute(&busy(), direction, &mut [&mut s.0, &mut s.1, &mut s.2, &mut s.3, &mut s.4]),
        _ => gpu.execute(
            &busy(),
            direction,
            &mut [
                &mut s.0,
                &mut total,
                &mut s.1,
                &mut stack,
                &mut s.2,
                &mut y,
                &mut s.3,
                &mut x,
                &mut s.4,
                &mut (),
            ],
        ),
    }
}

#[test]
fn a_second_call_allocates_and_compiles_nothing() {
    let gpu = Gpu::over(Watched::new()).kernels(options());
    let mut s = state();
    run(&gpu, Direction::FORWARD, &mut s).unwrap();
    run(&gpu, ADJOINT, &mut s).unwrap();
    let first = gpu.driver().take();
    assert!(["load", "allocate t", "allocate s"].iter().all(|w| first.iter().any(|l| l == w)), "{first:?}");
    run(&gpu, Direction::FORWARD, &mut s).unwrap();
    run(&gpu, ADJOINT, &mut s).unwrap();
    let second = gpu.driver().take();
    let new = second.iter().filter(|l| l.starts_with("allocate") || *l == "load").count();
    assert_eq!(new, 0, "{second:?}");
    let work = |log: &[String]| log.iter().filter(|l| l.starts_with("launch")).count();
    assert_eq!(work(&first), work(&second));
}

#[test]
fn kernels_run_for_each_trip_of_the_hosts_loop() {
    let gpu = Gpu::over(Watched::new()).kernels(options());
    let m = module(
        "module steps
         fn steps<T: Real>(y: &mut [T], n: usize) {
             for t in 0..n {
                 par for i in 0..len(y) { y[i] += 1 }
                 for u in 0..2 { par for i in 0..len(y) { y[i] += 2 } }
             }
         }",
    );
    let mut y = vec![0.0; 100];
    gpu.execute(&m, Direction::FORWARD, &mut [&mut y, &mut 7usize]).unwrap();
    assert_eq!(y, [35.0; 100]);
    let launches = gpu.driver().take().into_iter().filter(|l| l.starts_with("launch")).count();
    assert_eq!(launches, 7 * 3);
}

#[test]
fn nothing_waits_between_forward_and_adjoint() {
    let gpu = Gpu::over(Watched::new()).kernels(options());
    let m = module(
        "module square
         fn square<T: Real>(total: &mut T, y: &mut [T], x: [T], steps: usize) {
             for t in 0..steps { par for i in 0..len(y) { y[i] += x[i] * x[i] total += x[i] } }
         }",
    );
    let (total, y, x, steps) = (0.0, vec![0.0; 50], vec![1.5; 50], 3usize);
    let forward = gpu.prepare(&m, Direction::FORWARD, &[&total, &y, &x, &steps]).unwrap();
    let adjoint = gpu.prepare(&m, ADJOINT, &[&total, &total, &y, &y, &x, &x, &steps, &()]).unwrap();
    let values = [&total as &dyn DynArg, &1.0, &y, &vec![1.0; 50], &x, &y, &steps, &()];
    let args: Vec<_> = values.into_iter().enumerate().map(|(k, v)| adjoint.upload(k, v).unwrap()).collect();
    gpu.driver().take();
    forward.run(&[&args[0], &args[2], &args[4], &args[6]]).unwrap();
    adjoint.run(&args.iter().collect::<Vec<_>>()).unwrap();
    let log = gpu.driver().take();
    assert!(log.iter().any(|l| l.starts_with("launch")), "{log:?}");
    assert!(!log.iter().any(|l| l == "download" || l == "synchronize"), "{log:?}");
    let mut x_bar = vec![0.0; 50];
    args[5].download(&mut x_bar).unwrap();
    assert_eq!(x_bar, [3.0 * (1.0 + 2.0 * 1.5); 50]);
}

#[test]
fn whatever_fails_the_arguments_are_as_they_were() {
    for direction in [Direction::FORWARD, ADJOINT] {
        let mut start = state();
        if direction == ADJOINT {
            run(&Gpu::over(Watched::new()).kernels(options()), Direction::FORWARD, &mut start).unwrap();
        }
        let gpu = Gpu::over(Watched::new()).kernels(options());
        run(&gpu, direction, &mut start.clone()).unwrap();
        let requests = gpu.driver().take();
        for after in 0..requests.len() {
            let mut s = start.clone();
            let error = run(&Watched::failing(after, false), direction, &mut s).unwrap_err();
            assert!(error.to_string().contains("watched: the device is lost"), "{after}: {error}");
            assert_eq!(s, start, "{after}");
        }
        let allocations: Vec<&str> = requests.iter().filter_map(|l| l.strip_prefix("allocate ")).collect();
        for (after, name) in allocations.iter().enumerate() {
            let mut s = start.clone();
            let error = run(&Watched::failing(after, true), direction, &mut s).unwrap_err();
            assert!(error.to_string().contains(&format!("no room for `{name}`: ")), "{after}: {error}");
            assert_eq!(s, start, "{after}");
        }
    }
}

#[test]
fn recursion_is_refused_by_name() {
    let m = module(
        "module deep
         fn deep(n: &mut i64, y: &mut [i64], k: i64) {
             if k > 0 { par for i in 0..len(y) { y[i] += 1 } call deep(&mut n, &mut y, k - 1) }
         }",
    );
    let gpu = Gpu::over(Watched::new());
    for direction in [Direction::FORWARD, Direction::INVERSE] {
        let error = gpu.execute(&m, direction, &mut [&mut 0i64, &mut vec![1i64], &mut 3i64]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains("the recursion of `deep") && text.contains("can't be run on a GPU"), "{text}");
        assert!(
            error.trace().iter().any(|site| site.statement.contains("deep(&mut n, &mut y, k - 1)")),
            "{text}"
        );
    }
}

/// Adjoints that were wrong once, on the emulator; `rev-cpu/tests/emitted.rs` has them for the others.
#[test]
fn constants_passed_to_calls_in_loops() {
    let m = module(
        "module f
         fn g<T: Real>(y: &mut [T], a: [T], b: [T], x: [T]) constant(x) {
             for i in 0..len(x) { y[i] += a[i] * b[i] * x[i] }
         }
         fn f<T: Real>(y: &mut [T], z: &mut T, w: T, v: [T], x: [T]) constant(x) {
             let n = w {
                 for i in 0..2 {
                     call g(&mut y, v, v, x)
                     call g(&mut y, v, v, x)
                     z -= n
                 }
             }
         }",
    );
    let gpu = Gpu::over(Watched::new()).kernels(options());
    let (mut y, mut v, mut x) = (vec![0.0; 3], vec![1.0, 2.0, 3.0], vec![0.5, 0.25, 4.0]);
    let (mut y_bar, mut v_bar, mut x_bar, mut w_bar) = (vec![1.0; 3], vec![0.0; 3], vec![0.0; 3], 0.0);
    gpu.execute(
        &m,
        ADJOINT,
        &mut [
            &mut y, &mut y_bar, &mut 0.0, &mut 1.0, &mut 2.0, &mut w_bar, &mut v, &mut v_bar, &mut x,
            &mut x_bar,
        ],
    )
    .unwrap();
    assert_eq!((v_bar, x_bar, w_bar), (vec![4.0, 4.0, 96.0], vec![0.0; 3], -2.0));
}

#[test]
fn a_choice_of_literals_inside_a_branch() {
    let m = module(
        "module f
         fn f<T: Real>(y: &mut [T], p: &mut T, q: &mut T, x: i32) {
             let n0 = q {
                 let n1: T = 0.41 {
                     y[1] -= select(n1 <= y[0], if x % 2 != 0 { p } else { n0 }, n0)
                 }
             }
         }",
    );
    let gpu = Gpu::over(Watched::new()).kernels(options());
    for (first, x, expected) in [(0.0, 1, (0.0, -0.25)), (1.0, 1, (-0.25, 0.0)), (1.0, 2, (0.0, -0.25))] {
        let (mut y, mut y_bar, mut p_bar, mut q_bar) = (vec![first, 2.0], vec![0.5, 0.25], 0.0, 0.0);
        let args: &mut [&mut dyn DynArg] =
            &mut [&mut y, &mut y_bar, &mut 3.0, &mut p_bar, &mut 5.0, &mut q_bar, &mut { x }, &mut ()];
        gpu.execute(&m, ADJOINT, args).unwrap();
        assert_eq!((p_bar, q_bar), expected);
    }
}

/// As deep as programs may be: on one thread, around a parallel loop, and around an array whose length the host has to
/// read back first, which no statement around it may be tried again for.
#[test]
fn programs_are_deep() {
    let inner = [
        "y[0] += A",
        "par for i in 0..len(y) { y[i] += A }",
        "anc t: [f64] = fill(0.0, m[0]) { t[0] += A y[0] += t[0] t[0] -= A }",
    ];
    let shape = |outer: String, inner: &str, n: usize| {
        module(&format!(
            "module f fn f(y: &mut [f64], x: f64, m: &[usize]) {{ {outer} {inner} {} }}",
            "}".repeat(n)
        ))
    };
    let names = |n: usize, inner: &str| {
        let lets: String = (1..n).map(|k| format!("let a{k}: f64 = a{} * x {{ ", k - 1)).collect();
        shape(format!("let a0: f64 = x {{ {lets}"), &inner.replace('A', &format!("a{}", n - 1)), n)
    };
    let choices = |n: usize, inner: &str| {
        shape((1..=n).map(|k| format!("if x < {k}.5 {{ ")).collect(), &inner.replace('A', "x"), n)
    };
    let (x, m, n) = (1.0 - 1e-4, vec![3usize], NESTING - 2);
    let power = |n: usize| (1..n).fold(x, |power, _| power * x);
    let gpu = Gpu::over(Emulator::new());
    for inner in inner {
        for (program, expected) in [(names(n, inner), power(n)), (choices(n, inner), x)] {
            let mut y = vec![0.0; 2];
            gpu.execute(&program, Direction::FORWARD, &mut [&mut y, &mut x.clone(), &mut m.clone()]).unwrap();
            assert_eq!(y[0], expected);
        }
        let n = 300;
        let (mut y, mut y_bar, mut x_bar) = (vec![power(n), 0.0], vec![1.0, 0.0], 0.0);
        let arguments: &mut [&mut dyn DynArg] =
            &mut [&mut y, &mut y_bar, &mut x.clone(), &mut x_bar, &mut m.clone(), &mut ()];
        gpu.execute(&names(n, inner), ADJOINT, arguments).unwrap();
        let expected = n as f64 * power(n - 1);
        assert_abs_diff_eq!(x_bar, expected, epsilon = 1e-9 * expected);
    }
}

/// In the deterministic mode every observation of a bundle has a thread, and what it keeps for the sums into its camera
/// and its point is as much for few of them as for many. (`REV_BUNDLE=372,48104,182072` is a large one.)
#[test]
fn sums_in_order_need_room_for_each_iteration_only() {
    let given = std::env::var("REV_BUNDLE").unwrap_or("10,600,3000".into());
    let numbers: Vec<usize> = given.split(',').map(|n| n.trim().parse().unwrap()).collect();
    let [cameras, points, observations] = numbers[..] else { panic!("{given}") };
    let instance = rev_kernels::ba::Instance::random(cameras, points, observations, 1);
    let gpu = Gpu::over(Watched::new()).deterministic(true);
    let found = rev_samples::bundle_gradient(&gpu, &instance).unwrap();
    let cpu = rev_cpu::prelude::Cpu::new().deterministic(true);
    assert!(found == rev_samples::bundle_gradient(&cpu, &instance).unwrap());
    let sizes = gpu.driver().sizes.lock().unwrap();
    let (kernels, arrays): (Vec<_>, Vec<_>) = sizes.iter().partition(|(name, _)| name.starts_with("k_"));
    for (name, size) in &arrays {
        println!("{size:>12} bytes of {name}");
    }
    for (name, size) in &kernels {
        println!("{size:>12} threads of {name}");
    }
    let room: usize = arrays.iter().map(|(_, bytes)| bytes).sum();
    println!("{room:>12} bytes in all");
    let threads = kernels.iter().find(|(name, _)| name.contains("_par")).map(|(_, threads)| *threads);
    assert!(threads.is_some_and(|threads| threads >= observations), "{threads:?}");
    assert!(room < 600 * observations, "{room}");
}

/// A derivative gives products of literals names, which have the program's type: rounded to it at each step on every device.
#[test]
fn products_of_literals_are_rounded_as_the_programs_numbers() {
    let program = module(
        "module f
         fn f<T: Real>(y: &mut T, x: T, z: T) { y -= 0.2222 * (1.47 * (0.57 * (x + z))) }",
    );
    let options = Options { checks: false, ..Options::default() };
    let devices: [&dyn DynamicDevice; 2] = [&Interpreter::with_options(options), &Gpu::over(Emulator::new())];
    for device in devices {
        let mut bars = (1.0f32, 0.0f32, 0.0f32);
        let (mut y, mut x, mut z) = (0.5f32, 0.25f32, 2.0f32);
        device
            .execute(&program, ADJOINT, &mut [&mut y, &mut bars.0, &mut x, &mut bars.1, &mut z, &mut bars.2])
            .unwrap();
        let expected = -(0.2222f32 * 1.47 * 0.57);
        assert_eq!((bars.1, bars.2), (expected, expected));
        assert_ne!(expected, -(0.2222f64 * 1.47 * 0.57) as f32);
    }
}

/// A conversion to a type that only the caller's context says, and one that the call says.
#[test]
fn a_conversion_to_a_type_that_nothing_says_is_refused_with_the_repair() {
    let run = |call: &str| {
        let m = module(&format!(
            "module f
             fn f<T: Real>(y: &mut T, x: T, n: i64) {{ y += x * {call} }}
             pure fn whole<T: Real>(n: i64) -> T {{ n as T }}
             links f {{ whole::<T> => whole }}"
        ));
        let mut y = 1.0;
        let gpu = Gpu::over(Watched::new());
        gpu.execute(&m, Direction::FORWARD, &mut [&mut y, &mut 0.5, &mut 3i64]).map(|_| y)
    };
    let text = run("whole(n)").unwrap_err().to_string();
    assert!(text.contains("no argument says what `T` is") && text.contains("`f::<T>(..)`"), "{text}");
    assert_eq!(run("whole::<T>(n)").unwrap(), 2.5);
}
