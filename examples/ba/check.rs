//! The gradient and the Jacobian blocks against finite differences.

use rev::device::Device;

use crate::problem::{Parameter, Problem};
use crate::support::{Checks, Failure, Outcome};

/// Compares 20 coordinates of the gradient and 20 elements of Jacobian blocks.
pub fn check<P: Problem>(device: &dyn Device, problem: &P, gradient: &[f64]) -> Result<Outcome, Failure> {
    let mut checks = Checks::new();
    for index in Checks::coordinates(gradient.len()) {
        let parameter = Parameter::of_gradient(problem, index);
        let (mut part, place) = (problem.only(&parameter.touches(problem)), parameter.among_its_own());
        let x = *part.place(place);
        checks.compare(format!("gradient, {}", name(parameter)), gradient[index], x, |h| {
            let (up, down) =
                (errors(device, &mut part, place, x + h)?, errors(device, &mut part, place, x - h)?);
            // ½ Σ up² - ½ Σ down² without its cancellation
            Ok::<f64, Failure>(up.iter().zip(&down).map(|(u, d)| 0.5 * (u - d) * (u + d)).sum())
        })?;
    }
    let [_, _, p] = problem.sizes();
    let mut blocks = P::Blocks::default();
    for (k, i) in Checks::coordinates(p).enumerate() {
        problem.jacobian(device, i..i + 1, &mut blocks)?;
        let (rows, component) = (P::rows(&blocks, 0), k % 2);
        let row = rows[component].as_ref();
        let column = (7 * k + i) % row.len();
        let parameter = Parameter::of_column(problem, i, column);
        let (mut part, place) = (problem.only(&[i]), parameter.among_its_own());
        let x = *part.place(place);
        let place_name = format!("residual {i}, {}, by {}", ["x", "y"][component], name(parameter));
        checks.compare(place_name, row[column], x, |h| {
            let (up, down) =
                (errors(device, &mut part, place, x + h)?, errors(device, &mut part, place, x - h)?);
            Ok::<f64, Failure>(up[component] - down[component])
        })?;
    }
    Ok(checks.finish()?)
}

fn name(parameter: Parameter) -> String {
    match parameter {
        Parameter::Camera(c, j) => format!("camera {c}, {j}"),
        Parameter::Point(x, j) => format!("point {x}, {j}"),
        Parameter::Weight(i) => format!("weight {i}"),
    }
}

/// All errors with the parameter at a value.
fn errors<P: Problem>(
    device: &dyn Device,
    problem: &mut P,
    parameter: Parameter,
    x: f64,
) -> Result<Vec<f64>, Failure> {
    let before = std::mem::replace(problem.place(parameter), x);
    let values = problem.values(device)?;
    *problem.place(parameter) = before;
    Ok(values.errors().collect())
}
