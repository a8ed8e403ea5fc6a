//! The constants of the functions, one set for `f64` and one for `f32`.

// the constants are their own derivation's, digit for digit
#[allow(clippy::approx_constant)]
pub(super) mod gamma;
#[allow(clippy::approx_constant)]
mod tables;

pub use tables::{DOUBLE, SINGLE};

/// `Σ cⱼ wʲ` from j = 1 on, of which the first coefficients are pairs.
pub(super) struct Series<const PAIRS: usize, const REST: usize> {
    /// As many as count in a pair.
    pub pairs: [[f64; 2]; PAIRS],
    /// Those after them.
    pub rest: [f64; REST],
}

/// A zero of a function, and the Taylor series of the function there.
pub(super) struct Zero {
    /// Where it is, in three parts.
    pub at: [f64; 3],
    /// The derivative, in two parts.
    pub slope: [f64; 2],
    /// The coefficients of the powers from the square on.
    pub rest: [f64; 3],
}

/// The encoding of a format and the constants that the functions use at its width.
///
/// A constant in several parts is their sum; each part has the precision of the format but the first
/// of `ln_2` and `log10_2`, which is so short that its product with an exponent is exact.
#[derive(Debug)]
pub struct Numbers {
    /// Bits of the encoding.
    pub width: u32,
    /// Bits of the fraction.
    pub mantissa: u32,
    /// What is added to the exponent.
    pub bias: i64,
    /// `3/2 · 2^mantissa`: adding it rounds to an integer, which is then in the low bits.
    pub magic: f64,
    /// The smallest normal number.
    pub smallest_normal: f64,
    /// Beyond these `exp` is 0 or infinite, and between them its exponent can be split in two.
    pub exp_range: [f64; 2],
    /// `1/ln 2`
    pub log2_e: [f64; 2],
    /// `1/ln 10`
    pub log10_e: [f64; 2],
    /// `ln 2`
    pub ln_2: [f64; 2],
    /// `log₁₀ 2`
    pub log10_2: [f64; 2],
    /// `2/3`
    pub two_thirds: [f64; 2],
    /// `2/π`
    pub two_over_pi: f64,
    /// `π/2`
    pub half_pi: [f64; 3],
    /// Arguments of sines up to this are reduced with `half_pi`.
    pub direct: f64,
    /// `tan π/8`
    pub tan_pi_8: f64,
    /// `(eʳ - 1 - r)/r²`
    pub exp: &'static [f64],
    /// `(2 artanh s - 2 s)/s³` in `s²`
    pub ln: &'static [f64],
    /// `(2 artanh s - 2 s - 2 s³/3)/s⁵` in `s²`
    pub ln_tail: &'static [f64],
    /// `(sin r - r)/r³` in `r²`
    pub sin: &'static [f64],
    /// `(cos r - 1 + r²/2)/r⁴` in `r²`
    pub cos: &'static [f64],
    /// `(atan t - t)/t³` in `t²`
    pub atan: &'static [f64],
    /// `(asin x - x)/x³` in `x²`
    pub asin: &'static [f64],
    /// `(sinh r - r)/r³` in `r²`
    pub sinh: &'static [f64],
    /// `(cosh r - 1)/r²` in `r²`
    pub cosh: &'static [f64],
    /// `erf x/x - 1` in `x²`
    pub erf: &'static [f64],
    /// `(1 + 2x) e^(x²) erfc x - 1` in `(x - 7/2)/(x + 7/2)`
    pub erfc: &'static [f64],
    /// The binary digits of `2/π` in words of `width` bits, after one word of zeros.
    pub two_over_pi_words: &'static [u64],
}
