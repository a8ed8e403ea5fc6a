//! Functions that the device has no instruction for: written down from [`rev_core::math`], which the
//! CPU computes them by as well.

use rev_core::ir::ScalarType;
use rev_core::math::{self, Machine};
use rev_core::ops::Func;

use crate::kernel::{Op, Ty};

use super::atom::Atom;
use super::math::emit;
use super::{Lower, Outcome};

impl Lower<'_> {
    /// A function of real numbers that is an expression over exact operations. Fixed-point numbers
    /// go through `f64`.
    pub fn expand(&mut self, func: Func, real: ScalarType, args: &[&Atom]) -> Outcome<Atom> {
        if real.is_half() {
            return self.through_single(real, args, |l, single, args| l.expand(func, single, args));
        }
        let found = match (real, func) {
            (ScalarType::F64 | ScalarType::F32, Func::Sin | Func::Cos) => {
                self.sine_or_cosine(func, real, args)?
            }
            (_, Func::LnGamma | Func::Polygamma) => self.gamma_function(func, real, args)?,
            (ScalarType::F64, _) => emit::<true, _>(self, |m| function(m, func, args))?,
            (ScalarType::F32, _) => emit::<false, _>(self, |m| function(m, func, args))?,
            (ScalarType::Fixed(of), _) => {
                let wide = args.iter().map(|a| self.fixed_to_f64(of, a)).collect::<Outcome<Vec<_>>>()?;
                let wide: Vec<&Atom> = wide.iter().collect();
                match emit::<true, _>(self, |m| function(m, func, &wide))? {
                    Some(value) => Some(self.fixed_from_f64(of, &value)?),
                    None => None,
                }
            }
            _ => None,
        };
        found.ok_or_else(|| self.unsupported(format!("`{}` of `{}`", func.name(), real.name())))
    }

    /// A derivative of one needs the other, and both share all but the last steps.
    fn sine_or_cosine(&mut self, func: Func, real: ScalarType, args: &[&Atom]) -> Outcome<Option<Atom>> {
        let Some(x) = args.first() else { return Ok(None) };
        let turn = match self.builder()?.turn(x) {
            Some(turn) => turn,
            None => {
                let (sine, cosine) = match real {
                    ScalarType::F64 => emit::<true, _>(self, |m| math::sin_cos(m, x))?,
                    _ => emit::<false, _>(self, |m| math::sin_cos(m, x))?,
                };
                let turn = [sine, cosine];
                self.builder()?.keep_turn(x, &turn);
                turn
            }
        };
        let [sine, cosine] = turn;
        Ok(Some(if func == Func::Sin { sine } else { cosine }))
    }

    /// `ln |Γ|` and its derivatives, which all scalars compute in `f64`.
    fn gamma_function(&mut self, func: Func, real: ScalarType, args: &[&Atom]) -> Outcome<Option<Atom>> {
        let Some(x) = args.last() else { return Ok(None) };
        let x = self.converted(x, real, ScalarType::F64)?;
        let value = match (func, args) {
            (Func::LnGamma, _) => emit::<true, _>(self, |m| math::ln_gamma(m, &x))?,
            (_, [k, _]) => match k.integer().and_then(|k| i32::try_from(k).ok()) {
                Some(k) => emit::<true, _>(self, |m| math::polygamma(m, k, &x))?,
                None => return Err(self.unsupported("`polygamma` of an order that isn't a constant")),
            },
            _ => return Ok(None),
        };
        self.converted(&value, ScalarType::F64, real).map(Some)
    }

    /// `xⁿ` of a float for an integer `n`: by multiplication, beyond ±63 by `powf`; of `f32` from -2 to 3
    /// in itself and else in `f64`.
    pub fn float_powi(&mut self, real: ScalarType, x: &Atom, n: &Atom) -> Outcome<Atom> {
        if real.is_half() {
            return self.through_single(real, &[x], |l, single, x| l.float_powi(single, x[0], n));
        }
        if let Some(n) = n.integer().and_then(|n| i32::try_from(n).ok()) {
            return match real {
                ScalarType::F64 => emit::<true, _>(self, |m| math::known_power(m, x, n)),
                _ if (-2..=3).contains(&n) => emit::<false, _>(self, |m| math::known_power(m, x, n)),
                _ => emit::<true, _>(self, |m| math::large_known_power_single(m, x, n)),
            };
        }
        let wide = |l: &mut Self, n: &Atom| l.op(Op::Convert, Ty::I64, std::slice::from_ref(n));
        if real == ScalarType::F64 {
            let n = wide(self, n)?;
            return emit::<true, _>(self, |m| math::powi(m, x, &n));
        }
        let small = emit::<false, _>(self, |m| math::small_power(m, x, n))?;
        let n64 = wide(self, n)?;
        let large = emit::<true, _>(self, |m| math::large_power_single(m, x, &n64))?;
        let least =
            self.compare(crate::kernel::Relation::Ge, n, &Atom::Const(-2i32 as u32 as u64, Ty::I32))?;
        let most = self.compare(crate::kernel::Relation::Le, n, &Atom::Const(3, Ty::I32))?;
        let near = self.op(Op::And, Ty::Pred, &[least, most])?;
        self.choose(&near, &small, &large)
    }
}

macro_rules! on_machines {
    ($(($variant:ident $name:ident($($arg:ident)*) $doc:literal $($row:tt)*))*) => {
        /// An elementary function on a machine; `None` for other functions.
        fn function<A: Machine<F = Atom>>(m: &mut A, func: Func, args: &[&Atom]) -> Option<Atom> {
            match (func, args) {
                $((Func::$variant, [$($arg),*]) => Some(math::$name(m, $($arg),*)),)*
                _ => None,
            }
        }
    };
}
rev_core::elementary_table!(on_machines,);
