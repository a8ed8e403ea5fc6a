//! Derivatives of a function of one number by differences, and whether they can be trusted.
//!
//! Central quotients are taken at four steps. Where the function is smooth, quotients of neighbouring
//! steps agree, and those from the left and from the right approach each other as the step does. At a
//! kink they don't: one at the point itself leaves them apart at every step, one nearby or a jump makes
//! quotients of different steps disagree. So a wrong derivative is told from a rough function, whose
//! points are skipped, counted and bounded by whoever asks.

/// What differences say about a derivative.
#[derive(Clone, Debug, PartialEq)]
pub enum Verdict {
    /// It is right.
    Agrees,
    /// It isn't, by these quotients.
    Differs(Vec<f64>),
    /// The function isn't smooth there.
    Rough,
}

/// About 1e-3 to 1e-6; powers of two, which differences in an `f32` are told by too.
const STEPS: [f64; 4] = [1.0 / 1024.0, 1.0 / 8192.0, 1.0 / 131072.0, 1.0 / 1048576.0];

/// How far numbers may be apart, relative to the larger one or 1.
const TOLERANCE: f64 = 1e-5;

fn off(a: f64, b: f64) -> f64 {
    (a - b).abs() / a.abs().max(b.abs()).max(1.0)
}

/// Compares a derivative at 0 with differences of a function, which may not exist everywhere.
pub fn compare(derivative: f64, f: &dyn Fn(f64) -> Option<f64>) -> Verdict {
    let (mut found, mut sides) = (Vec::new(), Vec::new());
    let middle = f(0.0);
    for h in STEPS {
        let (Some(plus), Some(minus), Some(middle)) = (f(h), f(-h), middle) else { continue };
        let quotient = (plus - minus) / (2.0 * h);
        if off(quotient, derivative) < TOLERANCE {
            return Verdict::Agrees;
        }
        found.push(quotient);
        sides.push(off((plus - middle) / h, (middle - minus) / h));
    }
    if found.len() < STEPS.len() || found.iter().any(|q| !q.is_finite()) {
        return Verdict::Rough;
    }
    // at a smooth point a step ten times as small leaves a tenth of the difference of the sides
    let smooth =
        |k: usize| off(found[k], found[k + 1]) < TOLERANCE && sides[k + 1] < 0.3 * sides[k] + 0.1 * TOLERANCE;
    match (0..STEPS.len() - 1).any(smooth) {
        true => Verdict::Differs(found),
        false => Verdict::Rough,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinks_and_jumps_are_told_from_wrong_derivatives() {
        let smooth = |x: f64| Some((3.0 * x + 0.2).sin() + x * x);
        assert_eq!(compare(3.0 * 0.2f64.cos(), &smooth), Verdict::Agrees);
        assert!(matches!(compare(3.0 * 0.2f64.cos() + 1e-3, &smooth), Verdict::Differs(_)));
        assert_eq!(compare(1.0, &|x| Some(x.abs())), Verdict::Rough);
        // the mean of both sides is the derivative by convention
        assert_eq!(compare(1.0, &|x| Some(x + x.abs() * 0.01)), Verdict::Agrees);
        assert_eq!(compare(1.01, &|x| Some(x + x.abs() * 0.01)), Verdict::Rough);
        // nearby: the smallest steps don't reach it, or the quotients don't settle
        for d in [1e-7, 1e-6, 3e-6, 2e-5, 9e-5, 4e-4, 9e-4] {
            let expected = if d < 1e-6 { Verdict::Rough } else { Verdict::Agrees };
            assert_eq!(compare(1.0, &|x| Some(x + (x - d).max(0.0))), expected, "{d}");
            assert_eq!(compare(1.0, &|x| Some(if x > d { x + 1.0 } else { x })), expected, "{d}");
        }
        assert_eq!(compare(1.0, &|x| (x < 1e-4).then_some(x * 7.0)), Verdict::Rough);
    }
}
