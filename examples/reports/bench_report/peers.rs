//! What others published, as ratios to the plain program of the same source: J.-G. Liu and T. Zhao,
//! "Differentiate Everything with a Reversible Embeded Domain-Specific Language" (arXiv:2003.04617),
//! tables 3, 5 and 6. Forward runs and gradients of NiLang are over the Julia program, those of
//! Tapenade over its own objective.

/// Rows of the table of Bessel functions, nanoseconds over those of the Julia program (18 ns).
pub const BESSEL: [(&str, f64); 8] = [
    ("NiLang, forward", 32.0 / 18.0),
    ("Tapenade, forward", 32.0 / 18.0),
    ("ForwardDiff, gradient", 38.0 / 18.0),
    ("Tapenade, tangent", 30.0 / 18.0),
    ("Tapenade, adjoint", 111.0 / 18.0),
    ("NiLang, gradient", 201.0 / 18.0),
    ("ReverseDiff, gradient", 1406.0 / 18.0),
    ("Zygote, gradient", 22_596.0 / 18.0),
];

/// Published seconds of one instance.
pub struct Published {
    /// The number of parameters or observations.
    pub size: usize,
    /// Julia's and Tapenade's objective.
    pub objective: [f64; 2],
    /// NiLang's objective.
    pub nilang: f64,
    /// NiLang's and Tapenade's gradient or Jacobian.
    pub derivative: [f64; 2],
}

impl Published {
    /// NiLang's forward run, NiLang's derivative over Julia's forward run; Tapenade's over its own.
    pub fn ratios(&self) -> [f64; 3] {
        let [julia, tapenade] = self.objective;
        [self.nilang / julia, self.derivative[0] / julia, self.derivative[1] / tapenade]
    }
}

const fn published(size: usize, objective: [f64; 2], nilang: f64, derivative: [f64; 2]) -> Published {
    Published { size, objective, nilang, derivative }
}

/// Gaussian mixtures by the number of parameters, 10,000 points.
pub const GMM: [Published; 6] = [
    published(30, [9.844e-3, 1.484e-3], 3.655e-3, [9.102e-3, 5.484e-3]),
    published(330, [1.166e-2, 3.747e-3], 1.425e-2, [3.709e-2, 1.434e-2]),
    published(1200, [2.797e-1, 4.836e-2], 1.040e-1, [2.830e-1, 2.205e-1]),
    published(3300, [9.745e-2, 3.578e-2], 1.389e-1, [3.556e-1, 1.497e-1]),
    published(10_725, [3.903e-2, 5.314e-2], 7.388e-2, [6.652e-1, 4.396e-1]),
    published(21_450, [7.476e-2, 1.069e-1], 1.491e-1, [1.449, 9.588e-1]),
];

/// Bundle adjustment by the number of observations.
pub const BA: [Published; 2] = [
    published(31_843, [2.020e-3, 1.632e-3], 2.708e-3, [1.651e-2, 1.940e-2]),
    published(204_472, [1.292e-2, 1.056e-2], 1.757e-2, [1.182e-1, 1.255e-1]),
];
