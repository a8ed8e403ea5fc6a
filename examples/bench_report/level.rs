//! Uncomputing levels: the logarithm, to base 2, of how many operations the reversible program runs
//! for one of the program that is left when nothing is uncomputed that nobody reads.
//!
//! Both are counted by the interpreter. Without checks the second program is what is run: level 0.

use rev::interp::Machine;
use rev::ir::{Direction, Module};
use rev::value::{Data, DynArg};
use rev_kernels::{ba, bessel, gmm, log_sum_exp};

use super::support::Failure;

/// A program's operations, reversible and erased.
pub struct Level {
    /// The program.
    pub name: &'static str,
    /// The operations of the reversible program.
    pub reversible: u64,
    /// Those of the program that is left.
    pub erased: u64,
}

impl Level {
    /// The level.
    pub fn value(&self) -> f64 {
        (self.reversible as f64 / self.erased as f64).log2()
    }
}

/// The levels of the benchmarks' programs, on small instances.
pub fn levels() -> Result<Vec<Level>, Failure> {
    let (g, b) = (gmm::Instance::random(5, 5, 20, 0), ba::Instance::random(2, 5, 20, 0));
    let mixture = [
        0.0.load(),
        g.alphas.load(),
        g.means.load(),
        g.icf.load(),
        g.points.load(),
        g.gamma.load(),
        g.m.load(),
    ];
    let adjustment = [
        0.0.load(),
        b.cameras.load(),
        b.points.load(),
        b.weights.load(),
        b.camera_of.load(),
        b.point_of.load(),
        b.features.load(),
    ];
    Ok(vec![
        level("bessel_j", bessel::bessel_j::ir(), &[0.0.load(), 2usize.load(), 1.0.load(), 1e-8.load()])?,
        level("log_sum_exp", log_sum_exp::log_sum_exp::ir(), &[0.0.load(), vec![0.5; 20].load()])?,
        level("gmm::objective", gmm::objective::ir(), &mixture)?,
        level("ba::objective", ba::objective::ir(), &adjustment)?,
    ])
}

fn level(name: &'static str, module: Module, args: &[Data]) -> Result<Level, Failure> {
    let (reversible, erased) =
        (operations(&module, args)?, operations(&module.erased().map_err(rev::Error::from)?, args)?);
    Ok(Level { name, reversible, erased })
}

fn operations(module: &Module, args: &[Data]) -> Result<u64, Failure> {
    use rev::interp::Progress;
    let mut machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec())?.forgetting();
    let mut count = 0;
    while machine.step()? == Progress::Stepped {
        count += 1;
    }
    Ok(count)
}
