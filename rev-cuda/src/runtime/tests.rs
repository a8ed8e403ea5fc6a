//! Plans on a driver that counts.

use super::*;
use crate::driver::Driver;
use crate::fake::{Fake, Memory};
use crate::kernel::{Kernel, Ty};
use crate::plan::{Buffer, BufferId, Detail, Failure, KernelArg, Program, Step, Word, WordId, WordOp};
use rev_core::error::{Cause, Site};
use std::sync::Arc;

fn buffer(name: &str, ty: Ty, rank: usize) -> Buffer {
    Buffer { name: name.into(), leaves: vec![ty], rank, stack: false, written: true }
}

fn kernel(name: &str, block: u32) -> Kernel {
    Kernel { name: name.into(), block, ..Kernel::default() }
}

fn at(memory: &mut Memory, address: u64) -> &mut [u8] {
    memory.get_mut(&address).unwrap()
}

fn get(memory: &mut Memory, address: u64) -> i64 {
    i64::from_le_bytes(at(memory, address)[..8].try_into().unwrap())
}

fn put(memory: &mut Memory, address: u64, v: i64) {
    at(memory, address)[..8].copy_from_slice(&v.to_le_bytes());
}

fn var(id: u32) -> Word {
    Word::Var(WordId(id))
}

/// Collatz steps from the argument, counted in the second one: a loop whose end the host reads back.
fn collatz() -> Program {
    let [n, steps, scratch] = [0, 1, 2].map(BufferId);
    Program {
        name: "collatz".into(),
        kernels: vec![kernel("step", 32), kernel("more", 32)],
        buffers: vec![buffer("n", Ty::I64, 0), buffer("steps", Ty::I64, 0), buffer("again", Ty::I64, 1)],
        arguments: 2,
        words: 2,
        steps: vec![
            Step::Allocate { buffer: scratch, shape: vec![Word::Const(1)] },
            Step::Loop {
                before: vec![
                    Step::Launch {
                        kernel: 1,
                        args: vec![KernelArg::Buffer(n), KernelArg::Buffer(scratch)],
                        threads: Word::Const(1),
                        max_blocks: None,
                    },
                    Step::Read { word: WordId(0), buffer: scratch },
                ],
                cond: var(0),
                body: vec![Step::Launch {
                    kernel: 0,
                    args: vec![KernelArg::Buffer(n), KernelArg::Buffer(steps), KernelArg::ErrorRecord],
                    threads: Word::Const(1),
                    max_blocks: None,
                }],
            },
        ],
        failures: vec![Failure {
            cause: Cause::Step { found: 0 },
            trace: vec![Site { function: "collatz".into(), ..Site::default() }],
            loops: vec![(0, "while".into())],
            detail: vec![Detail::Found(Ty::I64)],
        }],
        ..Program::default()
    }
}

fn collatz_driver() -> Fake {
    Fake::default()
        .kernel("more", |m, _, _, p| {
            let n = get(m, p[0]);
            put(m, p[1], (n != 1).into());
        })
        .kernel("step", |m, _, _, p| {
            let (n, steps) = (get(m, p[0]), get(m, p[1]));
            if n < 0 {
                at(m, p[2])[..4].copy_from_slice(&1u32.to_le_bytes());
                at(m, p[2])[8..16].copy_from_slice(&steps.to_le_bytes());
                at(m, p[2])[16..24].copy_from_slice(&n.to_le_bytes());
                return;
            }
            put(m, p[0], if n % 2 == 0 { n / 2 } else { 3 * n + 1 });
            put(m, p[1], steps + 1);
        })
}

fn scalars(driver: &Arc<Fake>, values: [i64; 2]) -> (Vec<Room<Fake>>, Vec<Given>) {
    let rooms: Vec<_> = values
        .iter()
        .map(|v| {
            let room = Room::new(driver, "argument", 8).unwrap();
            driver.upload(room.address(), &v.to_le_bytes()).unwrap();
            room
        })
        .collect();
    let given = rooms
        .iter()
        .zip(values)
        .map(|(r, v)| Given { address: r.address(), shape: vec![], integer: Some(v) })
        .collect();
    (rooms, given)
}

#[test]
fn loops_end_by_what_the_host_reads_and_a_second_run_allocates_nothing() {
    let driver = Arc::new(collatz_driver());
    let mut loaded = Loaded::new(driver.clone(), collatz(), "").unwrap();
    let (_rooms, given) = scalars(&driver, [27, 0]);
    loaded.run(given.clone()).unwrap();
    let memory = |k: usize| get(&mut driver.memory.lock().unwrap(), given[k].address);
    assert_eq!((memory(0), memory(1)), (1, 111));
    let before = driver.allocations.lock().unwrap().clone();
    assert_eq!(before, ["argument", "argument", "the error record", "again"]);
    loaded.run(given).unwrap();
    assert_eq!(*driver.allocations.lock().unwrap(), before);
    assert_eq!(*driver.loads.lock().unwrap(), 1);
    drop(loaded);
    assert_eq!(driver.memory.lock().unwrap().len(), 2);
}

#[test]
fn a_kernel_that_fails_ends_the_loop_and_says_where() {
    let driver = Arc::new(collatz_driver());
    let mut loaded = Loaded::new(driver.clone(), collatz(), "").unwrap();
    let (_rooms, given) = scalars(&driver, [-5, 3]);
    let error = loaded.run(given.clone()).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the step of a range must be at least 1 and is -5\n  in `collatz` with while = 3"
    );
    // The record is cleared before the next run.
    driver.upload(given[0].address, &8i64.to_le_bytes()).unwrap();
    loaded.run(given).unwrap();
    assert!(loaded.run(vec![]).unwrap_err().to_string().contains("takes 2 arguments"));
}

/// A launch over the length of an argument, with the words that it gets.
fn strided(threads: Word, max_blocks: Option<Word>, shape: Vec<Word>) -> Program {
    let (x, own) = (BufferId(0), BufferId(1));
    Program {
        name: "strided".into(),
        kernels: vec![kernel("k", 64)],
        buffers: vec![buffer("x", Ty::F64, 2), buffer("own", Ty::F32, 1)],
        arguments: 1,
        words: 1,
        steps: vec![
            Step::Set { word: WordId(0), value: Word::Length(x, 1) },
            Step::If {
                cond: var(0),
                then: vec![Step::Allocate { buffer: own, shape }],
                otherwise: vec![Step::Fail { failure: 0, values: vec![var(0)] }],
            },
            Step::Launch {
                kernel: 0,
                args: vec![KernelArg::Buffer(own), KernelArg::Word(var(0))],
                threads,
                max_blocks,
            },
        ],
        failures: vec![Failure {
            cause: Cause::Step { found: 7 },
            trace: vec![],
            loops: vec![],
            detail: vec![Detail::Found(Ty::I64)],
        }],
        ..Program::default()
    }
}

/// The grid that was launched, 0 where none was, or the error.
fn grid(program: Program, shape: Vec<usize>, capacity: Option<usize>) -> Result<i64, String> {
    let mut driver = Fake::default().kernel("k", |m, grid, block, p| {
        assert_eq!((block, p[1]), (64, 5));
        assert!(at(m, p[0]).iter().all(|b| *b == 0));
        put(m, p[0], grid.into());
    });
    driver.capacity = capacity;
    let driver = Arc::new(driver);
    let mut loaded = Loaded::new(driver.clone(), program, "").map_err(|e| e.to_string())?;
    loaded.run(vec![Given { address: 0, shape, integer: None }]).map_err(|e| e.to_string())?;
    let mut memory = driver.memory.lock().unwrap();
    let own = *memory.last_key_value().unwrap().0;
    Ok(get(&mut memory, own))
}

#[test]
fn launches_cover_the_threads_that_are_wanted() {
    let all = Word::Binary(WordOp::Mul, Box::new(Word::Length(BufferId(0), 0)), Box::new(var(0)));
    let small = vec![Word::Const(100)];
    assert_eq!(grid(strided(all.clone(), None, small.clone()), vec![13, 5], None), Ok(2));
    assert_eq!(grid(strided(all.clone(), Some(Word::Const(1)), small.clone()), vec![13, 5], None), Ok(1));
    assert_eq!(grid(strided(all, None, small.clone()), vec![0, 5], None), Ok(0));
    assert_eq!(grid(strided(Word::Const(-3), None, small.clone()), vec![0, 5], None), Ok(0));
    let many = grid(strided(Word::Const(i64::MAX), None, small), vec![0, 5], None).unwrap_err();
    assert!(many.contains("`k` needs") && many.contains("blocks"), "{many}");
}

#[test]
fn errors_of_memory_name_the_array_and_its_size() {
    let one = Word::Const(1);
    let of = |shape| strided(one.clone(), None, shape);
    let large = grid(of(vec![Word::Const(1 << 40), Word::Const(1 << 40)]), vec![1, 5], None).unwrap_err();
    assert_eq!(
        large,
        "fake: `strided`: `own` of shape [1099511627776, 1099511627776] is larger than any memory"
    );
    let negative = grid(of(vec![Word::Const(-1)]), vec![1, 5], None).unwrap_err();
    assert_eq!(negative, "`own` must have the shape lengths that aren't negative and has [-1]");
    let full = grid(of(vec![Word::Const(1000)]), vec![1, 5], Some(1024)).unwrap_err();
    assert_eq!(full, "fake: no room for `own`: 4096 bytes");
    let host = grid(of(vec![]), vec![1, 0], None).unwrap_err();
    assert_eq!(host, "the step of a range must be at least 1 and is 0");
}
