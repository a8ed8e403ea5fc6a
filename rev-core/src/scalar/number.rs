//! Numbers on their way from one scalar type to another: what `as` means between any two of them.

/// A number of some scalar type, kept exactly.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Num {
    /// A signed integer of up to 64 bits.
    Int(i64),
    /// An unsigned integer of up to 64 bits, and `bool`.
    Uint(u64),
    /// An `i128`.
    Wide(i128),
    /// A `u128`.
    WideUint(u128),
    /// An `f32` or `f64`.
    Float(f64),
    /// A fixed-point number.
    Fixed(super::FixedPoint),
    /// A complex number.
    Complex(f64, f64),
}

impl Num {
    /// The nearest `f64`; of a complex number the real part.
    #[cfg_attr(optimized, inline(always))]
    pub fn to_f64(self) -> f64 {
        match self {
            Num::Int(v) => v as f64,
            Num::Uint(v) => v as f64,
            Num::Wide(v) => v as f64,
            Num::WideUint(v) => v as f64,
            Num::Float(v) | Num::Complex(v, _) => v,
            Num::Fixed(v) => v.to_f64(),
        }
    }
}
