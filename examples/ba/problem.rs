//! A bundle adjustment problem with either camera, as the program sees it.

use std::hint::black_box;
use std::ops::Range;

use rev::device::Device;
use rev_kernels::{ba, bal};

use crate::support::Failure;

/// A problem.
pub trait Problem: Clone {
    /// A row of a Jacobian block.
    type Row: AsRef<[f64]>;
    /// Residuals and Jacobian blocks of some observations.
    type Blocks: Default;
    /// How many numbers a camera is.
    const CAMERA: usize;

    /// The numbers of cameras, points and observations.
    fn sizes(&self) -> [usize; 3];
    /// Residuals of the observations, and errors of the weights where there are weights.
    fn values(&self, device: &dyn Device) -> Result<Values, Failure>;
    /// Residuals and Jacobian blocks of a range of observations.
    fn jacobian(
        &self,
        device: &dyn Device,
        range: Range<usize>,
        into: &mut Self::Blocks,
    ) -> Result<(), Failure>;
    /// Computes those of all observations, so many at a time, on all threads of the device.
    fn each_jacobian(&self, device: &dyn Device, size: usize) -> Result<(), Failure>;
    /// The two rows of a block.
    fn rows(blocks: &Self::Blocks, i: usize) -> [Self::Row; 2];
    /// The derivatives of the weights' errors.
    fn weight_jacobian(&self, device: &dyn Device) -> Result<Vec<f64>, Failure>;
    /// `½ (Σ |residual|² + Σ weight error²)` and its gradient: cameras, points, weights.
    fn gradient(&self, device: &dyn Device) -> Result<(f64, Vec<f64>), Failure>;
    /// Which camera and which point each observation is of.
    fn observations(&self) -> (&[usize], &[usize]);
    /// The same problem with some of the observations only.
    fn only(&self, observations: &[usize]) -> Self;
    /// A parameter's place.
    fn place(&mut self, parameter: Parameter) -> &mut f64;
}

/// Residuals and weight errors.
pub struct Values {
    /// Two per observation.
    pub reprojection: Vec<[f64; 2]>,
    /// One per weight.
    pub weight: Vec<f64>,
}

impl Values {
    /// All errors in one sequence.
    pub fn errors(&self) -> impl Iterator<Item = f64> + '_ {
        self.reprojection.iter().flatten().chain(&self.weight).copied()
    }
}

/// A parameter: whose number, and which of its numbers.
#[derive(Clone, Copy, Debug)]
pub enum Parameter {
    /// Of a camera.
    Camera(usize, usize),
    /// Of a point.
    Point(usize, usize),
    /// The weight of an observation.
    Weight(usize),
}

impl Parameter {
    /// The parameter with a number in the gradient.
    pub fn of_gradient<P: Problem>(problem: &P, index: usize) -> Parameter {
        let ([n, m, _], camera) = (problem.sizes(), P::CAMERA);
        match index.checked_sub(n * camera) {
            None => Parameter::Camera(index / camera, index % camera),
            Some(index) if index < 3 * m => Parameter::Point(index / 3, index % 3),
            Some(index) => Parameter::Weight(index - 3 * m),
        }
    }

    /// The parameter behind a column of an observation's Jacobian block.
    pub fn of_column<P: Problem>(problem: &P, observation: usize, column: usize) -> Parameter {
        let (camera_of, point_of) = problem.observations();
        match column.checked_sub(P::CAMERA) {
            None => Parameter::Camera(camera_of[observation], column),
            Some(column) if column < 3 => Parameter::Point(point_of[observation], column),
            Some(_) => Parameter::Weight(observation),
        }
    }

    /// The observations that the parameter is part of.
    pub fn touches<P: Problem>(self, problem: &P) -> Vec<usize> {
        let (camera_of, point_of) = problem.observations();
        let all = 0..camera_of.len();
        match self {
            Parameter::Camera(c, _) => all.filter(|&i| camera_of[i] == c).collect(),
            Parameter::Point(x, _) => all.filter(|&i| point_of[i] == x).collect(),
            Parameter::Weight(i) => vec![i],
        }
    }

    /// The parameter when only observations that it is part of are left.
    pub fn among_its_own(self) -> Parameter {
        match self {
            Parameter::Camera(..) | Parameter::Point(..) => self,
            Parameter::Weight(_) => Parameter::Weight(0),
        }
    }
}

/// Takes blocks of which nothing but their time is wanted.
fn computed<B>(_: Range<usize>, blocks: &B) -> Result<(), rev::Error> {
    black_box(blocks);
    Ok(())
}

impl Problem for ba::Instance {
    type Row = [f64; ba::COLUMNS];
    type Blocks = ba::Blocks;
    const CAMERA: usize = ba::CAMERA;

    fn sizes(&self) -> [usize; 3] {
        ba::Instance::sizes(self)
    }

    fn values(&self, device: &dyn Device) -> Result<Values, Failure> {
        let values = ba::values(device, self)?;
        Ok(Values { reprojection: values.residuals, weight: values.weight_errors })
    }

    fn jacobian(
        &self,
        device: &dyn Device,
        range: Range<usize>,
        into: &mut Self::Blocks,
    ) -> Result<(), Failure> {
        Ok(ba::jacobian(device, self, range, into)?)
    }

    fn each_jacobian(&self, device: &dyn Device, size: usize) -> Result<(), Failure> {
        Ok(ba::each_jacobian(device, self, size, &mut Vec::new(), computed)?)
    }

    fn rows(blocks: &Self::Blocks, i: usize) -> [Self::Row; 2] {
        blocks.rows(i)
    }

    fn weight_jacobian(&self, device: &dyn Device) -> Result<Vec<f64>, Failure> {
        Ok(ba::weight_jacobian(device, self)?)
    }

    fn gradient(&self, device: &dyn Device) -> Result<(f64, Vec<f64>), Failure> {
        let g = ba::gradient(device, self)?;
        let all = g.cameras.iter().flatten().chain(g.points.iter().flatten()).chain(&g.weights);
        Ok((g.value, all.copied().collect()))
    }

    fn observations(&self) -> (&[usize], &[usize]) {
        (&self.camera_of, &self.point_of)
    }

    fn only(&self, kept: &[usize]) -> Self {
        ba::Instance {
            cameras: self.cameras.clone(),
            points: self.points.clone(),
            weights: kept.iter().map(|&i| self.weights[i]).collect(),
            camera_of: kept.iter().map(|&i| self.camera_of[i]).collect(),
            point_of: kept.iter().map(|&i| self.point_of[i]).collect(),
            features: kept.iter().map(|&i| self.features[i]).collect(),
        }
    }

    fn place(&mut self, parameter: Parameter) -> &mut f64 {
        match parameter {
            Parameter::Camera(c, j) => &mut self.cameras[c][j],
            Parameter::Point(x, j) => &mut self.points[x][j],
            Parameter::Weight(i) => &mut self.weights[i],
        }
    }
}

impl Problem for bal::Instance {
    type Row = [f64; bal::COLUMNS];
    type Blocks = bal::Blocks;
    const CAMERA: usize = bal::CAMERA;

    fn sizes(&self) -> [usize; 3] {
        bal::Instance::sizes(self)
    }

    fn values(&self, device: &dyn Device) -> Result<Values, Failure> {
        Ok(Values { reprojection: bal::values(device, self)?, weight: Vec::new() })
    }

    fn jacobian(
        &self,
        device: &dyn Device,
        range: Range<usize>,
        into: &mut Self::Blocks,
    ) -> Result<(), Failure> {
        Ok(bal::jacobian(device, self, range, into)?)
    }

    fn each_jacobian(&self, device: &dyn Device, size: usize) -> Result<(), Failure> {
        Ok(bal::each_jacobian(device, self, size, &mut Vec::new(), computed)?)
    }

    fn rows(blocks: &Self::Blocks, i: usize) -> [Self::Row; 2] {
        blocks.rows(i)
    }

    fn weight_jacobian(&self, _: &dyn Device) -> Result<Vec<f64>, Failure> {
        Ok(Vec::new())
    }

    fn gradient(&self, device: &dyn Device) -> Result<(f64, Vec<f64>), Failure> {
        let g = bal::gradient(device, self)?;
        Ok((g.value, g.cameras.iter().flatten().chain(g.points.iter().flatten()).copied().collect()))
    }

    fn observations(&self) -> (&[usize], &[usize]) {
        (&self.camera_of, &self.point_of)
    }

    fn only(&self, kept: &[usize]) -> Self {
        bal::Instance {
            cameras: self.cameras.clone(),
            points: self.points.clone(),
            camera_of: kept.iter().map(|&i| self.camera_of[i]).collect(),
            point_of: kept.iter().map(|&i| self.point_of[i]).collect(),
            features: kept.iter().map(|&i| self.features[i]).collect(),
        }
    }

    fn place(&mut self, parameter: Parameter) -> &mut f64 {
        match parameter {
            Parameter::Camera(c, j) => &mut self.cameras[c][j],
            // a problem without weights has no parameter of that kind
            Parameter::Point(x, j) => &mut self.points[x][j],
            Parameter::Weight(i) => &mut self.features[i][0],
        }
    }
}
