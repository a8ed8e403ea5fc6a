//! Taylor coefficients: against tangents of tangents, which share the rules of single functions with them but neither names nor
//! products of orders, and against the adjoint.

use rev_core::ir::Direction;
use rev_core::value::Data;

use super::super::{Failure, Tally};
use super::derivatives::along;
use super::runs::{alike, apart, interleave, numbers, Ends, Subject, ADJOINT, ROUNDING};
use crate::reals::{reals, replace};
use crate::Dice;

/// How far coefficients may be from derivatives taken one by one.
const NESTED: f64 = 1e-6;

/// What the coefficients of order 2 or 3 of a program are: for a share of the programs.
pub(super) fn of_the_program(s: &Subject, ends: &Ends, tally: &mut Tally) -> Result<(), Failure> {
    let order = match s.program.seed % 4 {
        1 => 2,
        3 => 3,
        _ => return Ok(()),
    };
    let refused = |e: &dyn std::fmt::Display| {
        Failure::new("it has Taylor coefficients", format!("{e}\n{}", s.program.text()))
    };
    let module = s.module.taylor(order).map_err(|e| refused(&e))?;
    let taylor = Subject::new(s.program, &module);
    let mut dice = Dice::new(s.program.seed + 4);
    let mut curve = vec![ends.before.clone()];
    for _ in 0..order {
        curve.push(ends.before.iter().map(|d| replace(d, &mut |_| dice.real(-1.0, 1.0))).collect());
    }
    let start = woven(&curve);
    let end = taylor.must_run(Direction::FORWARD, start.clone())?;
    let image = unwoven(&end, order + 1);
    alike("with Taylor coefficients, values are the program's", &ends.after, &image[0], 0.0)?;
    let back = taylor.must_run(Direction::INVERSE, end.clone())?;
    alike("the inverse takes Taylor coefficients back", &start, &back, ROUNDING)?;
    let inverse = s.module.inverse().taylor(order).map_err(|e| refused(&e))?;
    let back = Subject::new(s.program, &inverse).must_run(Direction::FORWARD, end.clone())?;
    alike("the Taylor coefficients of the inverse are the inverse of those", &start, &back, ROUNDING)?;
    *tally.entry("Taylor coefficients").or_default() += 1;
    as_nested_tangents(s, &curve, &image, tally)?;

    let property = "the gradient of Taylor coefficients agrees with differences";
    along(&taylor, Direction::FORWARD, &start, property, tally)?;
    let seeds: Vec<Vec<Data>> = (0..=order)
        .map(|_| ends.before.iter().map(|d| replace(d, &mut |_| dice.real(-1.0, 1.0))).collect())
        .collect();
    of_the_adjoint(s, &taylor, [&end, &woven(&seeds)], &curve)
}

/// The last of the tangents of tangents along `(x, x', x'', …)` is the derivative of the highest order.
fn as_nested_tangents(
    s: &Subject,
    curve: &[Vec<Data>],
    image: &[Vec<Data>],
    tally: &mut Tally,
) -> Result<(), Failure> {
    let order = curve.len() - 1;
    let mut nested = s.module.clone();
    for _ in 0..order {
        nested = nested.tangent().map_err(|e| Failure::new("a tangent has a tangent", e.to_string()))?;
    }
    let derivatives: Vec<Vec<Data>> =
        curve.iter().enumerate().map(|(k, of)| scaled(of, factorial(k))).collect();
    let mut levels = derivatives;
    while levels.len() > 1 {
        levels = levels.windows(2).map(|pair| interleave(&pair[0], &pair[1])).collect();
    }
    let mut found = Subject::new(s.program, &nested).must_run(Direction::FORWARD, levels.remove(0))?;
    for _ in 0..order {
        found = apart(&found).1;
    }
    if found.iter().flat_map(reals).any(|x| !x.is_finite()) {
        // at a point where a zero tangent stays zero, a tangent of that may not
        *tally.entry("infinite derivatives").or_default() += 1;
        return Ok(());
    }
    let expected = scaled(&image[order], factorial(order));
    alike("Taylor coefficients are the tangents of tangents", &found, &expected, NESTED)
        .map_err(|f| Failure { message: format!("{}\nat {}", f.message, numbers(&curve[0])), ..f })
}

/// The adjoint takes the cotangent of each coefficient to what the coefficients of the adjoint, as a function, take the cotangent's
/// from the other end to.
fn of_the_adjoint(
    s: &Subject,
    taylor: &Subject,
    [end, seeds]: [&[Data]; 2],
    curve: &[Vec<Data>],
) -> Result<(), Failure> {
    let count = curve.len();
    let shadows = |of: &[Data], numbers: &[Data]| -> Vec<Data> { super::tangents::shadows(of, numbers) };
    let (back, pulled) = apart(&taylor.must_run(ADJOINT, interleave(end, &shadows(end, seeds)))?);
    alike("the adjoint of Taylor coefficients restores the curve", &woven(curve), &back, ROUNDING)?;

    let refused =
        |e: &dyn std::fmt::Display| Failure::new("an adjoint has Taylor coefficients", e.to_string());
    let adjoint = s.module.pullback().map_err(|e| refused(&e))?;
    let module = adjoint.taylor(count - 1).map_err(|e| refused(&e))?;
    let (values, mut cotangents) = (unwoven(end, count), unwoven(seeds, count));
    cotangents.reverse();
    let both: Vec<Vec<Data>> = values.iter().zip(&cotangents).map(|(v, c)| interleave(v, c)).collect();
    let found = Subject::new(s.program, &module).must_run(Direction::FORWARD, woven(&both))?;
    let mut found: Vec<Vec<Data>> = unwoven(&found, count).iter().map(|both| apart(both).1).collect();
    found.reverse();
    let found = shadows(&woven(curve), &woven(&found));
    alike("the adjoint of Taylor coefficients is those of the adjoint", &pulled, &found, ROUNDING)
}

/// Each value followed by its coefficients.
fn woven(curve: &[Vec<Data>]) -> Vec<Data> {
    let count = curve.first().map_or(0, Vec::len);
    (0..count).flat_map(|n| curve.iter().map(move |of| of[n].clone())).collect()
}

/// The values, and the coefficients of each order.
fn unwoven(all: &[Data], count: usize) -> Vec<Vec<Data>> {
    (0..count).map(|k| all.iter().skip(k).step_by(count).cloned().collect()).collect()
}

fn scaled(of: &[Data], by: f64) -> Vec<Data> {
    of.iter().map(|d| replace(d, &mut |x| x * by)).collect()
}

fn factorial(k: usize) -> f64 {
    (1..=k).map(|j| j as f64).product()
}
