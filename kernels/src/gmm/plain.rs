//! The objective and its hand-derived gradient as plain sequential Rust: the yardstick.

use ndarray::{Array2, ArrayView2};
use num_traits::{Float, FloatConst};

use super::icf_len;

/// The objective `L` and its derivatives.
#[derive(Clone, Debug, PartialEq)]
pub struct Gradient<T> {
    /// `L`.
    pub value: T,
    /// `∂L/∂α`: K.
    pub alphas: Vec<T>,
    /// `∂L/∂μ`: K x D.
    pub means: Array2<T>,
    /// `∂L/∂(q, l)`: K x (D + D(D-1)/2).
    pub icf: Array2<T>,
}

/// `ln Σ exp(x)`, safe against overflow and underflow.
pub fn log_sum_exp<T: Float>(x: &[T]) -> T {
    let max = x.iter().copied().fold(T::neg_infinity(), T::max);
    let sum = x.iter().fold(T::zero(), |sum, &x| sum + (x - max).exp());
    max + sum.ln()
}

/// `out = Q v` for the lower triangle with diagonal `diagonal` and strict lower part `lower` by column.
fn multiply<T: Float>(diagonal: &[T], lower: &[T], v: &[T], out: &mut [T]) {
    for ((out, &q), &v) in out.iter_mut().zip(diagonal).zip(v) {
        *out = q * v;
    }
    let mut column = lower;
    for (i, &v) in v.iter().enumerate() {
        let below = &mut out[i + 1..];
        let (entries, rest) = column.split_at(below.len());
        for (out, &l) in below.iter_mut().zip(entries) {
            *out = *out + l * v;
        }
        column = rest;
    }
}

/// What doesn't depend on the points: `exp(q)` of every component and `α_k + Σ_j q_kj`.
struct Factors<T> {
    exp_q: Vec<T>,
    offset: Vec<T>,
}

impl<T: Float> Factors<T> {
    fn new(d: usize, alphas: &[T], icf: &[T]) -> Factors<T> {
        let rows = || icf.chunks_exact(icf_len(d));
        let exp_q = rows().flat_map(|row| row[..d].iter().map(|q| q.exp())).collect();
        let offset =
            rows().zip(alphas).map(|(row, &alpha)| row[..d].iter().fold(alpha, |s, &q| s + q)).collect();
        Factors { exp_q, offset }
    }
}

/// `ln Γ(n/2)` for a whole `n ≥ 1`, by `Γ(x + 1) = x Γ(x)` from `Γ(1/2) = √π` or `Γ(1) = 1`.
fn ln_gamma_half<T: Float + FloatConst>(n: usize) -> T {
    let half = T::one() / (T::one() + T::one());
    let (mut x, mut sum) = if n % 2 == 1 { (half, T::PI().ln() * half) } else { (T::one(), T::zero()) };
    for _ in 0..(n - 1) / 2 {
        sum = sum + x.ln();
        x = x + T::one();
    }
    sum
}

fn from_usize<T: Float>(n: usize) -> T {
    T::from(n).unwrap_or_else(T::nan)
}

/// The part of `L` that is the prior, less what depends on the parameters: `-K C - (N D / 2) ln(2π)`.
fn constant<T: Float + FloatConst>(d: usize, k: usize, n: usize, gamma: T, m: usize) -> T {
    let half = T::one() / (T::one() + T::one());
    let (df, nu) = (from_usize::<T>(d), d + m + 1);
    let pairs = from_usize::<T>(d * (d - 1)) * half * half;
    let ln_gamma_d = (0..d).fold(pairs * T::PI().ln(), |sum, j| sum + ln_gamma_half(nu - j));
    let c = from_usize::<T>(nu) * df * (gamma.ln() - half * T::LN_2()) - ln_gamma_d;
    -from_usize::<T>(k) * c - from_usize::<T>(n) * df * half * T::TAU().ln()
}

/// The Wishart prior's part that depends on the parameters.
fn prior<T: Float>(d: usize, factors: &Factors<T>, icf: &[T], gamma: T, m: usize) -> T {
    let half = T::one() / (T::one() + T::one());
    let mut sum = T::zero();
    for (row, exp_q) in icf.chunks_exact(icf_len(d)).zip(factors.exp_q.chunks_exact(d)) {
        let squares = exp_q.iter().chain(&row[d..]).fold(T::zero(), |s, &x| s + x * x);
        let sum_q = row[..d].iter().fold(T::zero(), |s, &q| s + q);
        sum = sum + half * gamma * gamma * squares - from_usize::<T>(m) * sum_q;
    }
    sum
}

/// The objective `L`. Rows of the arguments have to be contiguous (arrays in the standard order).
pub fn objective<T: Float + FloatConst>(
    alphas: &[T],
    means: ArrayView2<T>,
    icf: ArrayView2<T>,
    points: ArrayView2<T>,
    gamma: T,
    m: usize,
) -> T {
    let (n, d) = points.dim();
    let [means, icf, points] = [means, icf, points].map(standard);
    let k = alphas.len();
    let half = T::one() / (T::one() + T::one());
    let factors = Factors::new(d, alphas, &icf);
    let (mut terms, mut centred, mut scaled) = (vec![T::zero(); k], vec![T::zero(); d], vec![T::zero(); d]);
    let mut likelihood = T::zero();
    for point in points.chunks_exact(d) {
        for (c, term) in terms.iter_mut().enumerate() {
            for ((out, &x), &mean) in centred.iter_mut().zip(point).zip(&means[c * d..]) {
                *out = x - mean;
            }
            let lower = &icf[c * icf_len(d) + d..(c + 1) * icf_len(d)];
            multiply(&factors.exp_q[c * d..(c + 1) * d], lower, &centred, &mut scaled);
            let square = scaled.iter().fold(T::zero(), |s, &x| s + x * x);
            *term = factors.offset[c] - half * square;
        }
        likelihood = likelihood + log_sum_exp(&terms);
    }
    constant(d, k, n, gamma, m) + likelihood - from_usize::<T>(n) * log_sum_exp(alphas)
        + prior(d, &factors, &icf, gamma, m)
}

/// The numbers of an array in the standard order, borrowed when they lie so.
fn standard<T: Float>(view: ArrayView2<T>) -> std::borrow::Cow<[T]> {
    match view.to_slice() {
        Some(slice) => slice.into(),
        None => view.iter().copied().collect(),
    }
}

/// The objective and its gradient, derived by hand: with the responsibilities
/// `r_nk = exp(term_nk - lse_n)` and `z = Q (x - μ)`,
/// `∂L/∂μ = Σ r Qᵀz`, `∂L/∂q = Σ r (1 - z exp(q) (x - μ))`, `∂L/∂l_ij = -Σ r z_i (x - μ)_j`.
pub fn gradient<T: Float + FloatConst>(
    alphas: &[T],
    means: ArrayView2<T>,
    icf: ArrayView2<T>,
    points: ArrayView2<T>,
    gamma: T,
    m: usize,
) -> Gradient<T> {
    let (n, d) = points.dim();
    let [means, icf, points] = [means, icf, points].map(standard);
    let (k, row) = (alphas.len(), icf_len(d));
    let half = T::one() / (T::one() + T::one());
    let factors = Factors::new(d, alphas, &icf);
    let mut terms = vec![T::zero(); k];
    let (mut centred, mut scaled) = (vec![T::zero(); k * d], vec![T::zero(); k * d]);
    let (mut d_alphas, mut d_means) = (vec![T::zero(); k], vec![T::zero(); k * d]);
    let mut d_icf = vec![T::zero(); k * row];
    let mut likelihood = T::zero();
    for point in points.chunks_exact(d) {
        for (c, term) in terms.iter_mut().enumerate() {
            let at = c * d..(c + 1) * d;
            for ((out, &x), &mean) in centred[at.clone()].iter_mut().zip(point).zip(&means[at.clone()]) {
                *out = x - mean;
            }
            let (q, lower) = (&factors.exp_q[at.clone()], &icf[c * row + d..(c + 1) * row]);
            multiply(q, lower, &centred[at.clone()], &mut scaled[at.clone()]);
            let square = scaled[at].iter().fold(T::zero(), |s, &x| s + x * x);
            *term = factors.offset[c] - half * square;
        }
        let lse = log_sum_exp(&terms);
        likelihood = likelihood + lse;
        for (c, term) in terms.iter().enumerate() {
            let r = (*term - lse).exp();
            let at = c * d..(c + 1) * d;
            let (v, z, q) = (&centred[at.clone()], &scaled[at.clone()], &factors.exp_q[at.clone()]);
            let (d_q, d_l) = d_icf[c * row..(c + 1) * row].split_at_mut(d);
            d_alphas[c] = d_alphas[c] + r;
            let d_mean = &mut d_means[at];
            let (mut lower, mut d_lower) = (&icf[c * row + d..(c + 1) * row], d_l);
            for j in 0..d {
                let zq = z[j] * q[j];
                let (column, rest) = lower.split_at(d - 1 - j);
                let (d_column, d_rest) = d_lower.split_at_mut(d - 1 - j);
                let mut qz = zq;
                for ((&l, dl), &z) in column.iter().zip(d_column).zip(&z[j + 1..]) {
                    qz = qz + l * z;
                    *dl = *dl - r * z * v[j];
                }
                d_mean[j] = d_mean[j] + r * qz;
                d_q[j] = d_q[j] + r * (T::one() - zq * v[j]);
                (lower, d_lower) = (rest, d_rest);
            }
        }
    }
    let lse_alpha = log_sum_exp(alphas);
    for (d_alpha, &alpha) in d_alphas.iter_mut().zip(alphas.iter()) {
        *d_alpha = *d_alpha - from_usize::<T>(n) * (alpha - lse_alpha).exp();
    }
    for (c, out) in d_icf.chunks_exact_mut(row).enumerate() {
        let (d_q, d_l) = out.split_at_mut(d);
        for (dq, &q) in d_q.iter_mut().zip(&factors.exp_q[c * d..]) {
            *dq = *dq + gamma * gamma * q * q - from_usize::<T>(m);
        }
        for (dl, &l) in d_l.iter_mut().zip(&icf[c * row + d..]) {
            *dl = *dl + gamma * gamma * l;
        }
    }
    let value = constant(d, k, n, gamma, m) + likelihood - from_usize::<T>(n) * lse_alpha
        + prior(d, &factors, &icf, gamma, m);
    let shaped = |v: Vec<T>, columns: usize| Array2::from_shape_fn((k, columns), |(c, j)| v[c * columns + j]);
    Gradient { value, alphas: d_alphas, means: shaped(d_means, d), icf: shaped(d_icf, row) }
}

#[cfg(test)]
mod tests {
    use approx::{abs_diff_eq, assert_abs_diff_eq, assert_relative_eq};

    use super::super::Instance;
    use super::*;

    fn value(i: &Instance) -> f64 {
        objective(&i.alphas, i.means.view(), i.icf.view(), i.points.view(), i.gamma, i.m)
    }

    #[test]
    fn log_sum_exp_survives_large_arguments() {
        assert_eq!(log_sum_exp(&[1000.0, 1000.0]), 1000.0 + 2f64.ln());
        assert_eq!(log_sum_exp(&[-1000.0, -1000.0]), -1000.0 + 2f64.ln());
        assert_abs_diff_eq!(log_sum_exp(&[0.1, 0.7f64]), (0.1f64.exp() + 0.7f64.exp()).ln(), epsilon = 1e-15);
    }

    #[test]
    fn ln_gamma_at_halves_of_whole_numbers() {
        let exact = [(1, 0.572_364_942_924_700_1), (2, 0.0), (3, -0.120_782_237_635_245_22), (8, 6f64.ln())];
        for (n, expected) in exact {
            assert!(abs_diff_eq!(ln_gamma_half::<f64>(n), expected, epsilon = 1e-14), "n = {n}");
        }
    }

    /// One component in one dimension at one point, written out.
    #[test]
    fn the_smallest_mixture_by_hand() {
        let (alpha, mean, q, x, gamma, m) = (0.3, 0.5, 0.2, 1.5, 1.3, 2usize);
        let instance = Instance {
            alphas: vec![alpha],
            means: ndarray::arr2(&[[mean]]),
            icf: ndarray::arr2(&[[q]]),
            points: ndarray::arr2(&[[x]]),
            gamma,
            m,
        };
        let nu = 4.0; // 1 + m + 1
        let c = nu * (gamma.ln() - 0.5 * 2f64.ln()) - 0.0; // ln Γ(2) = 0
        let term = alpha + q - 0.5 * (q.exp() * (x - mean)).powi(2);
        let wishart = 0.5 * gamma * gamma * (2.0 * q).exp() - 2.0 * q;
        let expected = -0.5 * std::f64::consts::TAU.ln() + term - alpha + wishart - c;
        assert_abs_diff_eq!(value(&instance), expected, epsilon = 1e-14);
    }

    /// A value that ADBench publishes with its smallest instance.
    #[test]
    fn the_value_of_adbench_at_its_test_instance() {
        let instance = Instance {
            alphas: vec![-0.649014, 1.181166, -0.758453],
            means: ndarray::arr2(&[[0.092339, 0.186260], [0.345561, 0.396767], [0.538817, 0.419195]]),
            icf: ndarray::arr2(&[
                [0.586443, -0.851887, 0.800321],
                [-1.509405, 0.875874, -0.242790],
                [0.166813, -1.965419, -1.270071],
            ]),
            points: ndarray::arr2(&[[1.175171, 2.029160]]),
            gamma: 1.0,
            m: 0,
        };
        let expected = 8.073_804_080_049_757;
        assert_abs_diff_eq!(value(&instance), expected, epsilon = 1e-8 * (1.0 + 2.0 * expected));
    }

    #[test]
    fn the_gradient_agrees_with_finite_differences() {
        let instance = Instance { gamma: 1.2, m: 3, ..Instance::random(3, 4, 20, 5) };
        let i = &instance;
        let g = gradient(&i.alphas, i.means.view(), i.icf.view(), i.points.view(), i.gamma, i.m);
        assert_relative_eq!(g.value, value(i), epsilon = 0.0, max_relative = 1e-12);
        let check = |name: &str, g: f64, move_by: &dyn Fn(&mut Instance, f64)| {
            let at = |h: f64| {
                let mut moved = instance.clone();
                move_by(&mut moved, h);
                value(&moved)
            };
            let h = 1e-3;
            let d = (8.0 * (at(h) - at(-h)) - (at(2.0 * h) - at(-2.0 * h))) / (12.0 * h);
            let scale = (g.abs() + d.abs()).max(1.0);
            assert!(abs_diff_eq!(g, d, epsilon = 1e-7 * scale), "{name}: {g} against {d}");
        };
        g.alphas.iter().enumerate().for_each(|(j, &g)| check("α", g, &|i, h| i.alphas[j] += h));
        g.means.indexed_iter().for_each(|(j, &g)| check("μ", g, &|i, h| i.means[j] += h));
        g.icf.indexed_iter().for_each(|(j, &g)| check("icf", g, &|i, h| i.icf[j] += h));
    }

    #[test]
    fn single_precision_and_other_memory_orders_agree() {
        let i = Instance::random(3, 4, 50, 7);
        let expected = value(&i);
        let single = |a: &Array2<f64>| a.mapv(|x| x as f32);
        let (alphas, means, icf, points) = (
            i.alphas.iter().map(|x| *x as f32).collect::<Vec<_>>(),
            single(&i.means),
            single(&i.icf),
            single(&i.points),
        );
        let got = objective(&alphas, means.view(), icf.view(), points.view(), 1f32, 0);
        assert_relative_eq!(f64::from(got), expected, epsilon = 0.0, max_relative = 1e-4);
        let columns = i.points.t().as_standard_layout().into_owned();
        let got = objective(&i.alphas, i.means.view(), i.icf.view(), columns.t(), i.gamma, i.m);
        assert_eq!(got, expected);
    }
}
