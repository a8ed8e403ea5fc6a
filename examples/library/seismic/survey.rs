//! The ground, what is sent into it and what comes back.

use rev::checkpoint::Progress;
use rev::prelude::*;
use rev_kernels::wave::{ricker, Layer, Medium};

/// Cells of the absorbing layer at each edge.
pub const EDGE: usize = 12;

/// The row below sources and receivers from which on the ground is unknown.
pub const TOP: usize = EDGE + 6;

/// Metres of a cell.
const CELL: f64 = 10.0;

/// Metres per second: of the layers from above, and of the body.
const SPEEDS: [f64; 4] = [1500.0, 2000.0, 2500.0, 3200.0];

/// The least and the largest speed that is looked for.
pub const BOUNDS: [f64; 2] = [1200.0, 4000.0];

/// The time of a step: the fastest wave goes 0.62 cells, and is stable below `1/√2`.
const DT: f64 = 0.62 * CELL / BOUNDS[1];

/// The wavelet's width in steps: about twenty cells to a wave in the uppermost layer.
const WIDTH: f64 = 18.0;

/// Sources, receivers, and what these have recorded.
pub struct Survey {
    /// The ground with what is looked for in it, and without.
    pub truth: Medium,
    /// Where the search begins: speeds that grow with depth.
    pub first: Medium,
    /// The cells of the sources.
    pub sources: Vec<[usize; 2]>,
    /// The cells of the receivers.
    pub receivers: Vec<[usize; 2]>,
    /// What is sent at each step.
    pub wavelet: Vec<f64>,
    /// For each source, a row for each step and a column for each receiver.
    pub records: Vec<Array2<f64>>,
}

impl Survey {
    /// With sources and receivers at the surface of a square ground, and nothing recorded yet.
    pub fn new(cells: usize, steps: usize, shots: usize) -> Survey {
        let layer = Layer { cells: EDGE, speed: SPEEDS[0], reflection: 1e-3 };
        let medium = |speed: &dyn Fn(f64, f64) -> f64| {
            // by depth and by width below the surface, from 0 to 1
            let part = |i: usize| (i as f64 - EDGE as f64) / (cells - 2 * EDGE) as f64;
            let c = Array2::from_shape_fn((cells, cells), |(i, j)| speed(part(i), part(j)).powi(2));
            Medium::new(c, DT, (CELL, CELL), layer)
        };
        let truth = medium(&|x: f64, y: f64| match x {
            _ if (x - 0.5).hypot(y - 0.5) < 0.1 => SPEEDS[3],
            x if x < 0.33 => SPEEDS[0],
            x if x < 0.7 => SPEEDS[1],
            _ => SPEEDS[2],
        });
        let known = (TOP - EDGE) as f64 / (cells - 2 * EDGE) as f64;
        let first = medium(&|x: f64, _: f64| {
            SPEEDS[0] + (SPEEDS[2] - SPEEDS[0]) * ((x - known) / (1.0 - known)).clamp(0.0, 1.0)
        });
        let row = EDGE + 2;
        let along = |count: usize| {
            (0..count).map(move |k| [row, EDGE + (2 * k + 1) * (cells - 2 * EDGE) / (2 * count)])
        };
        let receivers = along((cells - 2 * EDGE) / 2).collect();
        let peak = DT.powi(-2);
        let wavelet = ricker(steps, WIDTH, 4.0 * WIDTH).iter().map(|a| a * peak).collect();
        Survey { truth, first, sources: along(shots).collect(), receivers, wavelet, records: Vec::new() }
    }

    /// Cells by x, steps and sources.
    pub fn sizes(&self) -> [usize; 3] {
        [self.truth.c.nrows(), self.wavelet.len(), self.sources.len()]
    }

    /// Half the sum of the records' squares: the misfit of silence.
    pub fn loudness(&self) -> f64 {
        self.records.iter().flatten().map(|heard| heard * heard / 2.0).sum()
    }

    /// The bytes of a state.
    pub fn state_bytes(&self) -> u64 {
        4 * 8 * self.truth.c.len() as u64
    }
}

/// The part of a run that is done.
pub fn part(progress: &Progress) -> (u64, u64) {
    let done = progress.calls + u128::from(progress.gradients);
    let all = progress.all_calls.unwrap_or(0) + u128::from(progress.all_gradients.unwrap_or(0));
    (u64::try_from(done).unwrap_or(u64::MAX), u64::try_from(all).unwrap_or(u64::MAX))
}
