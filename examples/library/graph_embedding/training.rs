//! Placements that are learned: by Adam and by Newton's method in a trust region.
//!
//! Two vertices stay where they are: all vertices in one point would be a solution otherwise. What is searched are the coordinates
//! of the other eight, one vertex behind the other.

use argmin::core::{
    CostFunction, Error, Executor, Gradient, Hessian, IterState, Problem, Solver, State, TerminationReason,
    TerminationStatus, KV,
};
use argmin::solver::trustregion::{Steihaug, TrustRegion};
use ndarray::{s, Array2};
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, StandardNormal};
use rev::prelude::*;
use rev_networks::adam::Adam;

use rev_networks::graph_embedding::{embedding, Petersen, EDGES, VERTICES};

/// The first vertices, which are not moved. They share an edge, whose length every edge gets.
pub const FIXED: usize = 2;

/// The length of Adam's steps.
const RATE: f64 = 0.01;

/// The loss and the length of the gradient at which Newton's method is done.
const DONE: [f64; 2] = [1e-31, 1e-13];

/// Newton's steps at most.
const MOST: u64 = 300;

/// The coordinates that are searched.
pub type Vector = Vec<f64>;
type Matrix = Vec<Vec<f64>>;
type Iteration = IterState<Vector, Vector, (), Matrix, (), f64>;

/// A placement in some dimensions with the loss on a device.
#[derive(Clone, Copy)]
pub struct Placement<'a> {
    pub device: &'a Cpu,
    pub graph: &'a Petersen,
    /// Where all vertices start: one in each row.
    pub start: &'a Array2<f64>,
}

/// Vertices at normally distributed points.
pub fn start(dimensions: usize, seed: u64) -> Array2<f64> {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    Array2::from_shape_simple_fn((VERTICES, dimensions), || StandardNormal.sample(&mut rng))
}

impl Placement<'_> {
    /// All vertices, with the searched ones at a point.
    pub fn vertices(&self, free: &[f64]) -> Array2<f64> {
        let mut x = self.start.clone();
        x.slice_mut(s![FIXED.., ..]).iter_mut().zip(free).for_each(|(x, free)| *x = *free);
        x
    }

    /// The coordinates of the start that are searched.
    pub fn first(&self) -> Vector {
        self.start.slice(s![FIXED.., ..]).iter().copied().collect()
    }

    pub fn value(&self, free: &[f64]) -> Result<f64, rev::Error> {
        let (x, mut loss) = (self.vertices(free), 0.0);
        embedding::run(self.device, &mut loss, x.view(), &self.graph.a, &self.graph.b, EDGES)?;
        Ok(loss)
    }

    pub fn slope(&self, free: &[f64]) -> Result<Vector, rev::Error> {
        let x = self.vertices(free);
        let g = embedding::gradient(self.device, x.view(), &self.graph.a, &self.graph.b, EDGES)?;
        Ok(g.x.slice(s![FIXED.., ..]).iter().copied().collect())
    }

    /// The rows and columns of the Hessian that belong to the searched coordinates.
    pub fn curvature(&self, free: &[f64]) -> Result<Matrix, rev::Error> {
        let x = self.vertices(free);
        let h = embedding::hessian(self.device, x.view(), &self.graph.a, &self.graph.b, EDGES)?;
        let fixed = FIXED * x.ncols();
        let free = h.matrix();
        let free = free.slice(s![fixed.., fixed..]);
        Ok(free.outer_iter().map(|row| row.to_vec()).collect())
    }
}

/// Where a search ended.
#[derive(Clone)]
pub struct Found {
    pub loss: f64,
    /// Steps that it took: gradients of Adam, Hessians of Newton's method.
    pub iterations: u64,
    pub at: Vector,
}

/// Steps of Adam.
pub fn adam(placement: &Placement<'_>, steps: u64) -> Result<Found, rev::Error> {
    let mut x = placement.first();
    let mut adam = Adam::new(RATE, x.len());
    for _ in 0..steps {
        let slope = placement.slope(&x)?;
        adam.step(&mut x, &slope);
    }
    Ok(Found { loss: placement.value(&x)?, iterations: steps, at: x })
}

impl CostFunction for Placement<'_> {
    type Param = Vector;
    type Output = f64;
    fn cost(&self, x: &Vector) -> Result<f64, Error> {
        self.value(x).map_err(|e| Error::msg(e.to_string()))
    }
}

impl Gradient for Placement<'_> {
    type Param = Vector;
    type Gradient = Vector;
    fn gradient(&self, x: &Vector) -> Result<Vector, Error> {
        self.slope(x).map_err(|e| Error::msg(e.to_string()))
    }
}

impl Hessian for Placement<'_> {
    type Param = Vector;
    type Hessian = Matrix;
    fn hessian(&self, x: &Vector) -> Result<Matrix, Error> {
        self.curvature(x).map_err(|e| Error::msg(e.to_string()))
    }
}

/// Newton's method in a trust region, which ends where the gradient is zero up to rounding.
struct UntilFlat(TrustRegion<Steihaug<Vector, f64>, f64>);

impl Solver<Placement<'_>, Iteration> for UntilFlat {
    fn name(&self) -> &str {
        "trust-region Newton"
    }

    fn init(
        &mut self,
        problem: &mut Problem<Placement<'_>>,
        state: Iteration,
    ) -> Result<(Iteration, Option<KV>), Error> {
        self.0.init(problem, state)
    }

    fn next_iter(
        &mut self,
        problem: &mut Problem<Placement<'_>>,
        state: Iteration,
    ) -> Result<(Iteration, Option<KV>), Error> {
        self.0.next_iter(problem, state)
    }

    fn terminate(&mut self, state: &Iteration) -> TerminationStatus {
        let square: f64 = state.get_gradient().map_or(0.0, |g| g.iter().map(|v| v * v).sum());
        if square.sqrt() <= DONE[1] {
            return TerminationStatus::Terminated(TerminationReason::SolverConverged);
        }
        TerminationStatus::NotTerminated
    }
}

/// Newton's method in a trust region, with steps by conjugate gradients (Steihaug, 1983).
pub fn trust_region(placement: &Placement<'_>) -> Result<Found, Error> {
    let solver = UntilFlat(TrustRegion::new(Steihaug::new()));
    let run = Executor::new(*placement, solver)
        .configure(|state| state.param(placement.first()).max_iters(MOST).target_cost(DONE[0]))
        .run()?;
    let state = run.state();
    let at = state.get_best_param().cloned().unwrap_or_else(|| placement.first());
    Ok(Found { loss: placement.value(&at)?, iterations: state.get_iter(), at })
}
