//! The functions of the table on values: shadows lane by lane, literals in the type of what they
//! meet, complex numbers by their parts.

use rev_core::ir::{Class, Number, ScalarType};
use rev_core::ops::{Func, Shape};

use crate::kernel::{Op, Relation, Ty};

use super::atom::Atom;
use super::complex::{Complex, Pair};
use super::value::{is_integer, Num, Val};
use super::wide::is_wide;
use super::{Lower, Outcome};

impl Lower<'_> {
    /// Applies a function of the table.
    pub fn apply(&mut self, func: Func, args: Vec<Val>) -> Outcome<Val> {
        let func = match (func, args.as_slice()) {
            (Func::Div, [Val::Num(n), _] | [_, Val::Num(n)]) if is_integer(n.real) && !n.complex => {
                Func::Quot
            }
            _ => func,
        };
        let row = func.row();
        if args.len() != row.args.len() {
            return Err(self.unsupported(format!("`{}` of {} arguments", row.name, args.len())));
        }
        let on_shadow = matches!(row.args.first(), Some(Shape::S | Shape::SR));
        if on_shadow && matches!(args[0], Val::None) {
            return Ok(Val::None);
        }
        let width = args
            .iter()
            .find_map(|a| if let Val::Num(n) = a { Some(n.lanes) } else { None }.filter(|w| *w > 0));
        if let Some(width) = width {
            let lanes = (0..width).map(|k| self.lane(func, &args, k)).collect::<Outcome<Vec<Num>>>()?;
            return Ok(Val::Num(Num::join(&lanes)));
        }
        if on_shadow {
            let args = args.into_iter().map(|a| self.cotangent_of(a)).collect::<Outcome<_>>()?;
            return self.apply_scalars(func, row.args, args, true);
        }
        self.apply_scalars(func, row.args, args, false)
    }

    fn lane(&mut self, func: Func, args: &[Val], k: usize) -> Outcome<Num> {
        let args = args.iter().map(|a| if let Val::Num(n) = a { Val::Num(n.lane(k)) } else { a.clone() });
        match self.apply(func, args.collect())? {
            Val::Num(n) => Ok(n),
            _ => Err(self.unsupported(format!("`{}` of a shadow", func.name()))),
        }
    }

    fn apply_scalars(
        &mut self,
        func: Func,
        shapes: &[Shape],
        args: Vec<Val>,
        on_shadow: bool,
    ) -> Outcome<Val> {
        let numeric = |s: &Shape| matches!(s, Shape::T | Shape::S | Shape::R | Shape::SR);
        let typed = || {
            let both = shapes.iter().zip(&args).filter(|(s, _)| numeric(s));
            both.filter_map(|(_, a)| if let Val::Num(n) = a { Some(n) } else { None })
        };
        let key = match typed().find(|n| n.complex).or_else(|| typed().next()) {
            Some(key) => key.clone(),
            None if shapes.iter().any(numeric) => return self.literals(func, shapes, args),
            None => Num::real(ScalarType::Bool, Atom::bool(false)),
        };
        let mut nums = Vec::new();
        for (shape, arg) in shapes.iter().zip(&args) {
            nums.push(self.argument(*shape, arg, &key, on_shadow, func)?);
        }
        self.dispatch(func, &key, &nums)
    }

    /// An argument in the type that its shape asks for.
    fn argument(&mut self, shape: Shape, arg: &Val, key: &Num, on_shadow: bool, func: Func) -> Outcome<Num> {
        match (shape, arg) {
            (Shape::T | Shape::S, Val::Literal(n)) => self.literal_as(*n, key.real, key.complex),
            (Shape::R | Shape::SR, Val::Literal(n)) => self.literal_as(*n, key.real, false),
            (Shape::I, Val::Literal(n)) => self.literal_as(*n, ScalarType::I32, false),
            (Shape::I, Val::Num(n)) if is_integer(n.real) => {
                let i = self.converted(&n.parts[0], n.real, ScalarType::I32)?;
                Ok(Num::real(ScalarType::I32, i))
            }
            (Shape::S | Shape::T, Val::Num(n)) if on_shadow && key.complex && !n.complex => {
                Ok(Num::complex(n.real, n.parts[0].clone(), self.int(n.real, 0)?))
            }
            (_, Val::Num(n)) => Ok(n.clone()),
            (Shape::T | Shape::S | Shape::R | Shape::SR | Shape::I, choice @ Val::Choice(..)) => {
                let like = match shape {
                    Shape::T | Shape::S => self.literal_as(Number::Int(0), key.real, key.complex)?,
                    Shape::I => self.literal_as(Number::Int(0), ScalarType::I32, false)?,
                    _ => self.literal_as(Number::Int(0), key.real, false)?,
                };
                match self.coerce(choice.clone(), &Val::Num(like))? {
                    Val::Num(n) => Ok(n),
                    _ => Err(self.unsupported("a choice of what aren't numbers")),
                }
            }
            _ => Err(self.unsupported(format!("`{}` of a value that isn't a number", func.name()))),
        }
    }

    /// A literal as a number of a type.
    pub fn literal_as(&mut self, n: Number, real: ScalarType, complex: bool) -> Outcome<Num> {
        if is_wide(real) {
            let parts = super::value::constant(n, real);
            let parts = parts.ok_or_else(|| self.unsupported("a literal that its type hasn't"))?;
            return Ok(Num { real, complex: false, lanes: 0, parts });
        }
        let re = self.number(real, n)?;
        Ok(if complex { Num::complex(real, re, self.int(real, 0)?) } else { Num::real(real, re) })
    }

    /// Arithmetic on literals alone: in `f64` where anything isn't an integer, else exactly.
    fn literals(&mut self, func: Func, shapes: &[Shape], args: Vec<Val>) -> Outcome<Val> {
        if let Some(k) = args.iter().position(|a| matches!(a, Val::Choice(..))) {
            return self.distributed(func, args, k);
        }
        let float = matches!(func.row().class, Class::Field | Class::Real)
            || args.iter().any(|a| matches!(a, Val::Literal(Number::Float(_))));
        let real = if float { ScalarType::F64 } else { ScalarType::I64 };
        let mut typed = Vec::new();
        for (shape, arg) in shapes.iter().zip(args) {
            typed.push(match (shape, arg) {
                (Shape::T | Shape::S | Shape::R | Shape::SR, Val::Literal(Number::Bool(b))) => {
                    Val::bool(Atom::bool(b))
                }
                (Shape::T | Shape::S | Shape::R | Shape::SR, Val::Literal(n)) => {
                    Val::Num(self.literal_as(n, real, false)?)
                }
                (_, arg) => arg,
            });
        }
        if !typed.iter().any(|a| matches!(a, Val::Num(_))) {
            return Err(self.unsupported(format!("`{}` of values without a type", func.name())));
        }
        let value = self.apply(func, typed)?;
        Ok(match &value {
            Val::Num(Num { real: ScalarType::F64, complex: false, parts, .. }) => match parts[0].bits() {
                Some(bits) => Val::Literal(Number::Float(f64::from_bits(bits))),
                None => value,
            },
            Val::Num(Num { real: ScalarType::I64, parts, .. }) => match parts[0].integer() {
                Some(n) => Val::Literal(Number::Int(n)),
                None => value,
            },
            _ => value,
        })
    }

    /// A function of a choice: the choice of its values.
    fn distributed(&mut self, func: Func, mut args: Vec<Val>, k: usize) -> Outcome<Val> {
        let Val::Choice(cond, a, b) = args[k].clone() else {
            return Err(self.unsupported("a choice"));
        };
        let mut one = |l: &mut Self, value: Val| {
            args[k] = value;
            l.apply(func, args.clone())
        };
        let (x, y) = (one(self, *a)?, one(self, *b)?);
        self.choose_val(&cond, &x, &y)
    }

    fn dispatch(&mut self, func: Func, key: &Num, args: &[Num]) -> Outcome<Val> {
        if let Some(value) = self.on_any(func, key, args)? {
            return Ok(value);
        }
        if key.complex {
            return self.on_complex(func, key.real, args);
        }
        let atoms: Vec<Atom> = args.iter().map(|n| n.parts[0].clone()).collect();
        if args.iter().any(|n| n.parts.len() != 1) {
            return self.on_wide(func, args);
        }
        self.on_real(func, key.real, &atoms)
    }

    /// Functions that are the same for real and complex numbers, and those that change between them.
    fn on_any(&mut self, func: Func, key: &Num, args: &[Num]) -> Outcome<Option<Val>> {
        let real = key.real;
        let real_val = |a: Atom| Some(Val::real(real, a));
        Ok(match func {
            Func::Select => {
                let parts = args[1].parts.iter().zip(&args[2].parts);
                let cond = args[0].parts[0].clone();
                let parts = parts.map(|(a, b)| self.choose(&cond, a, b)).collect::<Outcome<_>>()?;
                Some(Val::Num(Num { parts, ..args[1].clone() }))
            }
            Func::Re | Func::ShadowRe => real_val(args[0].parts[0].clone()),
            Func::Im | Func::ShadowIm => match args[0].parts.get(1).filter(|_| key.complex) {
                Some(im) => real_val(im.clone()),
                None => real_val(self.int(real, 0)?),
            },
            Func::Complex => {
                Some(Val::Num(Num::complex(real, args[0].parts[0].clone(), args[1].parts[0].clone())))
            }
            // a real cotangent stays one until it meets a complex variable
            Func::ShadowFromRe | Func::ShadowOf | Func::Fused | Func::StopGradient => {
                Some(Val::Num(args[0].clone()))
            }
            // it may stand where a real number does
            Func::Differentiable if matches!(real.class(), Class::Integer | Class::Scalar) => {
                Some(Val::Literal(Number::Int(0)))
            }
            Func::Differentiable => Some(Val::Num(args[0].clone())),
            Func::ShadowFromIm => {
                Some(Val::Num(Num::complex(real, self.int(real, 0)?, args[0].parts[0].clone())))
            }
            Func::ScaleReal => Some(self.scale_real(&args[0], &args[1])?),
            Func::Absorb => Some(self.absorb(&args[0], &args[1])?),
            Func::Powi => Some(Val::Num(self.powi(&args[0], &args[1].parts[0])?)),
            Func::PowiDerivative => {
                Some(Val::Num(self.powi_derivative(&args[0], &args[1].parts[0], &args[2].parts[0])?))
            }
            _ => None,
        })
    }

    /// A real cotangent times a number.
    fn scale_real(&mut self, c: &Num, t: &Num) -> Outcome<Val> {
        let c = &c.parts[0];
        let parts = t.parts.iter().map(|p| self.times(t.real, c, p)).collect::<Outcome<Vec<_>>>()?;
        if !t.complex {
            return Ok(Val::Num(Num { parts, ..t.clone() }));
        }
        // as a sum of a real and an imaginary number
        let zero = self.int(t.real, 0)?;
        let (re, im) = (self.plus(t.real, &parts[0], &zero)?, self.plus(t.real, &zero, &parts[1])?);
        Ok(Val::Num(Num::complex(t.real, re, im)))
    }

    /// `s · c`, and 0 where `s` is 0 whatever `c` is. Of complex numbers by parts, as the shadows of
    /// emitted code do it, where that is what the interpreter computes too.
    fn absorb(&mut self, s: &Num, c: &Num) -> Outcome<Val> {
        let product = self.product(s, c)?;
        let mut still = Atom::bool(true);
        let zero = self.int(s.real, 0)?;
        for part in &s.parts {
            let own = self.compare(Relation::Eq, part, &zero)?;
            still = self.op(Op::And, Ty::Pred, &[still, own])?;
        }
        let parts = s.parts.iter().zip(&product.parts);
        let parts = parts.map(|(a, b)| self.choose(&still, a, b)).collect::<Outcome<_>>()?;
        Ok(Val::Num(Num { parts, ..s.clone() }))
    }

    /// The product of two numbers of one type.
    pub fn product(&mut self, a: &Num, b: &Num) -> Outcome<Num> {
        if is_wide(a.real) {
            return self.wide_product(a, b);
        }
        if a.complex {
            let (re, im) = Complex { lower: self, real: a.real }.times(&pair(a), &pair(b))?;
            return Ok(Num::complex(a.real, re, im));
        }
        Ok(Num::real(a.real, self.times(a.real, &a.parts[0], &b.parts[0])?))
    }

    /// The sum of two numbers of one type, or their difference; shadows lane by lane.
    pub fn sum(&mut self, add: bool, a: &Num, b: &Num) -> Outcome<Num> {
        if a.parts.len() != b.parts.len() {
            return Err(self.unsupported("a sum of values of different types"));
        }
        if is_wide(a.real) {
            return self.wide_sum(add, a, b);
        }
        let one = |l: &mut Self, x: &Atom, y: &Atom| {
            if add {
                l.plus(a.real, x, y)
            } else {
                l.minus(a.real, x, y)
            }
        };
        let parts = a.parts.iter().zip(&b.parts).map(|(x, y)| one(self, x, y)).collect::<Outcome<_>>()?;
        Ok(Num { parts, ..a.clone() })
    }

    fn on_complex(&mut self, func: Func, real: ScalarType, args: &[Num]) -> Outcome<Val> {
        let pairs: Vec<Pair> = args.iter().map(pair).collect();
        let mut c = Complex { lower: self, real };
        let number = |(re, im)| Ok(Val::Num(Num::complex(real, re, im)));
        match (func, pairs.as_slice()) {
            (Func::Add, [a, b]) => number(c.plus(a, b)?),
            (Func::Sub, [a, b]) => number(c.minus(a, b)?),
            (Func::Mul | Func::Scale, [a, b]) => number(c.times(a, b)?),
            (Func::Div, [a, b]) => number(c.over(a, b)?),
            (Func::MulAdd, [a, b, d]) => number(c.fused(a, b, d)?),
            (Func::ShadowConj, [a]) => number((a.0.clone(), self.negated(real, &a.1)?)),
            (Func::Abs2, [a]) => Ok(Val::real(real, c.abs2(a)?)),
            (Func::Norm, [a]) => Ok(Val::real(real, c.norm(a)?)),
            (Func::Arg, [a]) => Ok(Val::real(real, c.arg(a)?)),
            (Func::Eq, [a, b]) => Ok(Val::bool(c.equal(a, b)?)),
            (Func::Ne, [a, b]) => {
                let equal = c.equal(a, b)?;
                Ok(Val::bool(self.op(Op::Not, Ty::Pred, &[equal])?))
            }
            (_, [a]) => match c.function(func, a)? {
                Some(value) => number(value),
                None => Err(self.unsupported(format!("`{}` of a complex number", func.name()))),
            },
            _ => Err(self.unsupported(format!("`{}` of complex numbers", func.name()))),
        }
    }

    fn on_real(&mut self, func: Func, real: ScalarType, args: &[Atom]) -> Outcome<Val> {
        let a = &args[0];
        let b = args.get(1).unwrap_or(a);
        let c = args.get(2).unwrap_or(b);
        let truth = |r: Outcome<Atom>| r.map(Val::bool);
        let value = match func {
            Func::Eq => return truth(self.compare(Relation::Eq, a, b)),
            Func::Ne => return truth(self.compare(Relation::Ne, a, b)),
            Func::Lt => return truth(self.compare(Relation::Lt, a, b)),
            Func::Le => return truth(self.compare(Relation::Le, a, b)),
            Func::Gt => return truth(self.compare(Relation::Gt, a, b)),
            Func::Ge => return truth(self.compare(Relation::Ge, a, b)),
            Func::And => return truth(self.op(Op::And, Ty::Pred, args)),
            Func::Or => return truth(self.op(Op::Or, Ty::Pred, args)),
            Func::Not => return truth(self.op(Op::Not, Ty::Pred, args)),
            Func::Add => self.plus(real, a, b)?,
            Func::Sub => self.minus(real, a, b)?,
            Func::Mul | Func::Scale => self.times(real, a, b)?,
            Func::Div => self.over(real, a, b)?,
            Func::Neg => self.negated(real, a)?,
            Func::MulAdd => self.fused(real, a, b, c)?,
            Func::Quot => self.quotient(Op::Div, real, a, b)?,
            Func::Rem => self.quotient(Op::Rem, real, a, b)?,
            Func::BitAnd => self.op(Op::And, a.ty(), args)?,
            Func::BitOr => self.op(Op::Or, a.ty(), args)?,
            Func::BitXor => self.op(Op::Xor, a.ty(), args)?,
            Func::Shl => self.shifted(true, real, a, b)?,
            Func::Shr => self.shifted(false, real, a, b)?,
            Func::Min => {
                let first = self.compare(Relation::Le, a, b)?;
                self.choose(&first, a, b)?
            }
            Func::Max => {
                let first = self.compare(Relation::Ge, a, b)?;
                self.choose(&first, a, b)?
            }
            Func::Abs | Func::Norm => self.absolute(real, a)?,
            Func::Floor => self.rounded(Op::Floor, real, a)?,
            Func::Ceil => self.rounded(Op::Ceil, real, a)?,
            Func::Trunc => self.rounded(Op::Trunc, real, a)?,
            Func::Round => self.nearest(real, a)?,
            Func::CopySign => self.copy_sign(real, a, b)?,
            Func::Sqrt => self.root(real, a)?,
            Func::Recip => {
                let one = self.int(real, 1)?;
                self.over(real, &one, a)?
            }
            Func::Unit => self.unit(real, a)?,
            Func::Conj | Func::ShadowConj => a.clone(),
            Func::Abs2 => self.times(real, a, a)?,
            Func::ArgGradient => self.int(real, 0)?,
            Func::Arg => self.angle(real, a)?,
            Func::Polygamma => {
                return self.expand(func, real_of(real, b), &[a, b]).map(|v| Val::real(real, v))
            }
            elementary!() | Func::LnGamma => self.expand(func, real, &args.iter().collect::<Vec<_>>())?,
            // computed for any number before
            Func::Select
            | Func::Re
            | Func::Im
            | Func::Complex
            | Func::Powi
            | Func::PowiDerivative
            | Func::Absorb
            | Func::ScaleReal
            | Func::ShadowOf
            | Func::Fused
            | Func::StopGradient
            | Func::Differentiable
            | Func::ShadowRe
            | Func::ShadowIm
            | Func::ShadowFromRe
            | Func::ShadowFromIm => return Err(self.unsupported(format!("`{}`", func.name()))),
        };
        Ok(Val::real(real, value))
    }

    /// The angle of a real number: 0 or π.
    fn angle(&mut self, real: ScalarType, a: &Atom) -> Outcome<Atom> {
        let zero = self.int(real, 0)?;
        let ScalarType::Fixed(of) = real else {
            return self.expand(Func::Atan2, real, &[&zero, a]);
        };
        let pi = super::fixed::pi(of);
        let below = self.compare(Relation::Lt, a, &zero)?;
        self.choose(&below, &pi, &zero)
    }
}

/// The pattern of all elementary functions.
macro_rules! elementary {
    () => { rev_core::elementary_table!(elementary, @) };
    (@ $(($variant:ident $($row:tt)*))*) => { $(Func::$variant)|* };
}
use elementary;

/// `polygamma`'s first argument is an `i32`; its scalar is the second's.
fn real_of(real: ScalarType, x: &Atom) -> ScalarType {
    match x.ty() {
        Ty::F16 => ScalarType::F16,
        Ty::Bf16 => ScalarType::Bf16,
        Ty::F32 => ScalarType::F32,
        Ty::F64 => ScalarType::F64,
        _ => real,
    }
}

/// The parts of a complex number; a real one has no imaginary part to speak of.
fn pair(n: &Num) -> Pair {
    (n.parts[0].clone(), n.parts.get(1).unwrap_or(&n.parts[0]).clone())
}
