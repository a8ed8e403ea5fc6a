//! Log-gamma and the polygamma functions in arbitrary precision: the asymptotic series at 40 and beyond
//! (DLMF 5.11.1, 5.15.8), which arguments are moved to by recurrence, negative ones after a reflection.

use astro_float_num::{BigFloat, Consts, RoundingMode::ToEven};

/// Three times an `f64`: near a zero that much and more cancels.
const BITS: usize = 256;
const FAR: f64 = 40.0;
/// The first one left out is `2⁻²⁰⁰` of the sum at [`FAR`].
const TERMS: usize = 40;

/// The Bernoulli numbers `B₂, B₄, …`.
pub struct Factorials {
    bernoulli: Vec<BigFloat>,
}

fn number(x: f64) -> BigFloat {
    BigFloat::from_f64(x, BITS)
}
fn add(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.add(b, BITS, ToEven)
}
fn sub(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.sub(b, BITS, ToEven)
}
fn mul(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.mul(b, BITS, ToEven)
}
fn div(a: &BigFloat, b: &BigFloat) -> BigFloat {
    a.div(b, BITS, ToEven)
}
fn power(a: &BigFloat, n: usize) -> BigFloat {
    a.powi(n, BITS, ToEven)
}

/// `sin πx` and `cos πx` with a sign lost to both, from the distance to the nearest integer.
fn turn(x: &BigFloat, cc: &mut Consts) -> (BigFloat, BigFloat) {
    let r = sub(x, &x.round(0, ToEven));
    let angle = mul(&cc.pi(BITS, ToEven), &r);
    (angle.sin(BITS, ToEven, cc), angle.cos(BITS, ToEven, cc))
}

impl Factorials {
    /// By `Σ C(n, k) Bₖ = 0` for `k < n`, with bits to spare for what cancels.
    pub fn new() -> Self {
        let bits = 4 * BITS;
        let n = |x: usize| BigFloat::from_f64(x as f64, bits);
        let mut all = vec![n(1)];
        for i in 1..=2 * TERMS {
            let (mut sum, mut choose) = (n(0), n(1));
            for (k, b) in all.iter().enumerate() {
                sum = sum.add(&choose.mul(b, bits, ToEven), bits, ToEven);
                choose = choose.mul(&n(i + 1 - k), bits, ToEven).div(&n(k + 1), bits, ToEven);
            }
            all.push(sum.div(&n(i + 1), bits, ToEven).neg());
        }
        Factorials { bernoulli: all.into_iter().skip(2).step_by(2).collect() }
    }

    /// `Σ B₂ⱼ w²ʲ/x²ʲ` with weights `w`, each from the one before it by a quotient of integers.
    fn series(&self, x: &BigFloat, first: [f64; 2], next: impl Fn(f64) -> [f64; 2]) -> BigFloat {
        let square = mul(x, x);
        let mut weight = div(&div(&number(first[0]), &number(first[1])), &square);
        let mut sum = number(0.0);
        for (j, b) in self.bernoulli.iter().enumerate() {
            sum = add(&sum, &mul(b, &weight));
            let [up, down] = next(2.0 * (j + 1) as f64);
            weight = div(&mul(&weight, &number(up)), &mul(&number(down), &square));
        }
        sum
    }

    /// `ln |Γ(x)|`
    pub fn ln_gamma(&self, x: &BigFloat, cc: &mut Consts) -> BigFloat {
        if !x.is_positive() {
            // Γ(x) Γ(1 - x) = π/sin πx
            let other = self.ln_gamma(&sub(&number(1.0), x), cc);
            let (sine, _) = turn(x, cc);
            let quotient = div(&cc.pi(BITS, ToEven), &sine.abs());
            return sub(&quotient.ln(BITS, ToEven, cc), &other);
        }
        let (mut x, mut product) = (x.clone(), number(1.0));
        while x < number(FAR) {
            product = mul(&product, &x);
            x = add(&x, &number(1.0));
        }
        let log = x.ln(BITS, ToEven, cc);
        let two_pi = mul(&cc.pi(BITS, ToEven), &number(2.0));
        let constant = mul(&two_pi.ln(BITS, ToEven, cc), &number(0.5));
        let main = sub(&mul(&sub(&x, &number(0.5)), &log), &x);
        let sum = self.series(&x, [1.0, 2.0], |n| [(n - 1.0) * n, (n + 1.0) * (n + 2.0)]);
        let sum = add(&add(&main, &constant), &mul(&sum, &x));
        sub(&sum, &product.ln(BITS, ToEven, cc))
    }

    /// The derivative of an order of the digamma function.
    pub fn polygamma(&self, k: usize, x: &BigFloat, cc: &mut Consts) -> BigFloat {
        let sign = if k.is_multiple_of(2) { number(-1.0) } else { number(1.0) };
        if !x.is_positive() {
            let other = self.polygamma(k, &sub(&number(1.0), x), cc);
            let (sine, cosine) = turn(x, cc);
            let c = div(&cosine, &sine);
            // (-1)ᵏ times the derivatives of cot x in c = cot x
            let coefficients: &[f64] = match k {
                0 => &[0.0, 1.0],
                1 => &[1.0, 0.0, 1.0],
                2 => &[0.0, 2.0, 0.0, 2.0],
                3 => &[2.0, 0.0, 8.0, 0.0, 6.0],
                4 => &[0.0, 16.0, 0.0, 40.0, 0.0, 24.0],
                _ => unreachable!("{k}"),
            };
            let value = coefficients.iter().rev().fold(number(0.0), |v, a| add(&mul(&v, &c), &number(*a)));
            let value = mul(&power(&cc.pi(BITS, ToEven), k + 1), &value);
            // (-1)ᵏ (ψ(1 - x) - πᵏ⁺¹ …)
            return mul(&sign, &sub(&value, &other));
        }
        let factorial: f64 = (1..=k).map(|i| i as f64).product();
        let (mut x, mut left) = (x.clone(), number(0.0));
        while x < number(FAR) {
            left = add(&left, &div(&number(factorial), &power(&x, k + 1)));
            x = add(&x, &number(1.0));
        }
        let order = k as f64;
        if k == 0 {
            let sum = self.series(&x, [1.0, 2.0], |n| [n, n + 2.0]);
            let sum = add(&sum, &div(&number(0.5), &x));
            return sub(&sub(&x.ln(BITS, ToEven, cc), &sum), &left);
        }
        let first = [order * (order + 1.0), 2.0];
        let next = |n: f64| [(n + order) * (n + order + 1.0), (n + 1.0) * (n + 2.0)];
        let sum = self.series(&x, first, next);
        let sum = add(&add(&number(1.0), &div(&number(order / 2.0), &x)), &sum);
        let far = mul(&div(&number(factorial / order), &power(&x, k)), &sum);
        mul(&sign, &add(&far, &left))
    }
}
