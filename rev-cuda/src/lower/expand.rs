//! Functions that the device has no instruction for.

use rev_core::ir::ScalarType;
use rev_core::ops::Func;

use super::atom::Atom;
use super::{Lower, Outcome};

impl Lower<'_> {
    /// A function of real numbers that is an expression over exact operations.
    pub fn expand(&mut self, func: Func, real: ScalarType, args: &[&Atom]) -> Outcome<Atom> {
        if let Some(known) = known(func, real, args) {
            return Ok(known);
        }
        Err(self.unsupported(format!("`{}` of `{}`", func.name(), real.name())))
    }
}

/// The value at constants.
fn known(func: Func, real: ScalarType, args: &[&Atom]) -> Option<Atom> {
    let bits: Vec<u64> = args.iter().map(|a| a.bits()).collect::<Option<_>>()?;
    let ty = args.first()?.ty();
    match real {
        ScalarType::F64 => {
            let args: Vec<f64> = bits.iter().map(|b| f64::from_bits(*b)).collect();
            Some(Atom::Const(at_f64(func, &args)?.to_bits(), ty))
        }
        ScalarType::F32 => {
            let args: Vec<f32> = bits.iter().map(|b| f32::from_bits(*b as u32)).collect();
            Some(Atom::Const(at_f32(func, &args)?.to_bits().into(), ty))
        }
        _ => None,
    }
}

macro_rules! at {
    ($name:ident $t:ident) => {
        fn $name(func: Func, args: &[$t]) -> Option<$t> {
            use rev_core::scalar::rt;
            let one = |f: fn($t) -> $t| args.first().map(|a| f(*a));
            let two = |f: fn($t, $t) -> $t| Some(f(*args.first()?, *args.get(1)?));
            match func {
                Func::Exp => one(rt::exp),
                Func::Expm1 => one(rt::expm1),
                Func::Ln => one(rt::ln),
                Func::Log2 => one(rt::log2),
                Func::Log10 => one(rt::log10),
                Func::Log1p => one(rt::log1p),
                Func::Sin => one(rt::sin),
                Func::Cos => one(rt::cos),
                Func::Tan => one(rt::tan),
                Func::Sinh => one(rt::sinh),
                Func::Cosh => one(rt::cosh),
                Func::Tanh => one(rt::tanh),
                Func::Asin => one(rt::asin),
                Func::Acos => one(rt::acos),
                Func::Atan => one(rt::atan),
                Func::LnGamma => one(rt::ln_gamma),
                Func::Atan2 => two(rt::atan2),
                Func::Hypot => two(rt::hypot),
                Func::Powf => two(rt::powf),
                _ => None,
            }
        }
    };
}
at!(at_f64 f64);
at!(at_f32 f32);
