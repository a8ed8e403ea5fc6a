//! What it costs to bring arguments into the layout of device memory and back, without the device:
//! `cargo run --release -p rev-cuda --example transfer_speed`. Typed planes beside the way through a tree of
//! values that everything took before, and beside a copy of the same bytes; the best of several
//! passes, in milliseconds.

use std::hint::black_box;
use std::time::Instant;

use ndarray::Array2;
use rev_core::error::Error;
use rev_core::ir::ScalarType;
use rev_core::value::DynArg;
use rev_cuda::lower::ArgumentType;
use rev_cuda::runtime::{pack, stage, unpack, unstage, Packed, Sample};

const PASSES: usize = 9;

/// Milliseconds of the best pass.
fn time(mut f: impl FnMut() -> Result<(), Error>) -> Result<f64, Error> {
    let mut best = f64::INFINITY;
    for _ in 0..PASSES {
        let start = Instant::now();
        f()?;
        best = best.min(start.elapsed().as_secs_f64());
    }
    Ok(best * 1e3)
}

fn row(name: &str, value: &mut dyn DynArg, element: ArgumentType, rank: usize) -> Result<(), Error> {
    let ty = ArgumentType::Array(Box::new(element), rank);
    let mut staged = Packed::default();
    let planes = time(|| {
        stage(value, &Sample::of(value), &ty, 0, &mut staged)?;
        unstage(black_box(&staged), &ty, value)
    })?;
    let tree = time(|| {
        let packed = pack(&value.load(), &ty, 0)?;
        value.store(&unpack(black_box(&packed), &ty)?)
    })?;
    let mut copy = vec![0u8; staged.bytes.len()];
    let bytes = time(|| {
        copy.copy_from_slice(black_box(&staged.bytes));
        staged.bytes.copy_from_slice(black_box(&copy));
        Ok(())
    })?;
    println!(
        "| {name} | {tree:.1} | {planes:.2} | {:.0} | {bytes:.2} | {:.1} |",
        tree / planes,
        planes / bytes
    );
    Ok(())
}

fn main() -> Result<(), Error> {
    let f64 = || ArgumentType::Scalar(ScalarType::F64);
    println!("| there and back | tree | planes | ratio | copy of the bytes | planes over it |");
    println!("| --- | --- | --- | --- | --- | --- |");
    row("10^6 f64", &mut vec![1.5f64; 1_000_000], f64(), 1)?;
    row("1000 x 1000 f64", &mut Array2::from_elem((1000, 1000), 1.5), f64(), 2)?;
    let camera = ArgumentType::Tuple(vec![
        ArgumentType::Fixed(Box::new(f64()), 9),
        ArgumentType::Scalar(ScalarType::I64),
    ]);
    row("10^5 of ([f64; 9], i64)", &mut vec![([1.5f64; 9], 3i64); 100_000], camera, 1)
}
