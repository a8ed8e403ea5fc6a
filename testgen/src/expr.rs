//! Random expressions over the whole table of functions, kept where they are finite and smooth
//! enough for finite differences.
//!
//! Three grades keep values in bounds through loops: a *small* expression stays about within ±1
//! whatever the variables hold; a *linear* one grows at most in proportion to them; functions that
//! grow faster are applied to small arguments only.

use rev_core::ir::*;
use rev_core::ops::Func;

use crate::generator::{Generator, Use};
use crate::prelude::{TABLE, TABLE_LENGTH};
use crate::scope::{Element, Known, Permission, What, SHORT};

fn f(func: Func, args: Vec<Expr>) -> Expr {
    Expr::func(func, args)
}

fn typed(v: f64) -> Expr {
    Expr::new(ExprKind::Literal(Number::Float(v), Some(Type::Generic("T".into()))))
}

fn element(e: Expr, k: u32) -> Expr {
    Expr::new(ExprKind::Element(Box::new(e), k))
}

/// Whether the type of an expression follows from its parts, so that a literal may stand beside it.
fn is_anchored(e: &Expr) -> bool {
    !matches!(e.kind, ExprKind::Literal(_, None))
}

impl Generator<'_> {
    /// A factor or summand: a literal that takes the type of `beside`.
    fn literal(&mut self, low: f64, high: f64) -> Expr {
        if self.dice.chance(20) {
            return Expr::int(1 + self.dice.below(2) as i128);
        }
        Expr::float(self.dice.decimal(low, high))
    }

    pub(crate) fn scaled(&mut self, c: f64, e: Expr) -> Expr {
        f(Func::Mul, vec![Expr::float(c), e])
    }

    /// `1.5 + s·s` for a small `s`: at least 1.5.
    pub(crate) fn positive(&mut self, depth: usize) -> Expr {
        let s = self.small(depth);
        f(Func::Add, vec![Expr::float(1.5), f(Func::Mul, vec![s.clone(), s])])
    }

    /// A real number that grows at most linearly with the variables.
    pub(crate) fn linear(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.place(Element::Real, Use::Read) {
                Some(p) => Expr::read(p),
                None => self.small(0),
            };
        }
        let d = depth - 1;
        match self.dice.below(20) {
            0..=3 => self.small(depth),
            4 | 5 => f(Func::Add, vec![self.linear(d), self.linear(d)]),
            6 => f(Func::Sub, vec![self.linear(d), self.linear(d)]),
            7 => {
                let c = self.literal(0.1, 1.5);
                f(Func::Mul, vec![c, self.linear(d)])
            }
            8 => f(Func::Mul, vec![self.small(d), self.linear(d)]),
            9 => f(Func::Div, vec![self.linear(d), self.positive(d)]),
            10 => f(Func::Neg, vec![self.linear(d)]),
            11 => f(Func::Min, vec![self.linear(d), self.linear(d)]),
            12 => f(Func::Max, vec![self.linear(d), self.linear(d)]),
            13 => f(Func::Abs, vec![self.linear(d)]),
            14 => f(Func::Select, vec![self.condition(d), self.linear(d), self.linear(d)]),
            15 => f(Func::MulAdd, vec![self.small(d), self.linear(d), self.linear(d)]),
            16 => {
                let (size, sign) = (self.linear(d), self.linear(d));
                f(Func::CopySign, vec![size, self.off_zero(sign)])
            }
            17 => self.condition(d).choose(self.linear(d), self.linear(d)),
            18 if self.dice.chance(50) => self.local(d),
            18 => self.guarded(d),
            _ => {
                let c = self.literal(0.1, 0.9);
                f(Func::Add, vec![self.linear(d), c])
            }
        }
    }

    /// `if i + c < x.len() { … x[i + c] … } else { … }`, or the same about a division: an error where the other branch is
    /// chosen.
    fn guarded(&mut self, depth: usize) -> Expr {
        let array = |k: &&Known| k.what == What::Reals && k.permission == Permission::Read;
        let arrays: Vec<VarId> = self.scopes.known.iter().filter(array).map(|k| k.id).collect();
        let index = |k: &&Known| matches!(k.what, What::Index(_));
        let indices: Vec<VarId> = self.scopes.known.iter().filter(index).map(|k| k.id).collect();
        let apart = |v: &VarId| self.targets.iter().all(|t| t.var != *v);
        let arrays: Vec<VarId> = arrays.into_iter().filter(apart).collect();
        let (guard, value) = match (self.dice.pick(&arrays).copied(), self.dice.pick(&indices).copied()) {
            (Some(x), Some(i)) => {
                let c = Expr::int(1 + self.dice.below(4) as i128);
                let at = f(Func::Add, vec![Expr::read(Place::var(i)), c]);
                let length = Expr::new(ExprKind::Len(Place::var(x), None));
                let value = Expr::read(Place::var(x).with(Step::Index(vec![at.clone()])));
                (f(Func::Lt, vec![at, length]), value)
            }
            _ => {
                let n = f(Func::Rem, vec![self.int(0), Expr::int(3)]);
                let quotient = f(Func::Quot, vec![Expr::int(2), n.clone()]);
                let number = Expr::new(ExprKind::Cast(Box::new(quotient), Type::Generic("T".into())));
                (f(Func::Ne, vec![n, Expr::int(0)]), f(Func::Mul, vec![self.small(0), number]))
            }
        };
        let chosen = f(Func::Add, vec![f(Func::Sin, vec![value.clone()]), self.scaled(0.5, value)]);
        guard.choose(chosen, self.linear(depth))
    }

    /// `{ let t = e; … t … t … }`
    fn local(&mut self, depth: usize) -> Expr {
        let value = self.linear(depth);
        let t = self.declare("t", What::Real, VarKind::Binding);
        let known = self.know(t, What::Real, Permission::Read, false);
        known.scope = None;
        let result =
            f(Func::Add, vec![f(Func::Mul, vec![self.small(0), Expr::read(Place::var(t))]), self.linear(0)]);
        self.scopes.known.pop();
        Expr::new(ExprKind::Block(vec![(t, value)], Box::new(result)))
    }

    /// A number of the table, whose binding is put around the function's body.
    fn tabled(&mut self) -> Expr {
        let known = self.function.find_var(TABLE);
        let table = known.unwrap_or_else(|| {
            let f64 = Type::Scalar(ScalarType::F64);
            let ty = Type::Fixed(Box::new(f64), Length::Literal(TABLE_LENGTH as u64));
            let (name, kind) = (TABLE.to_string(), VarKind::Binding);
            self.function.add_var(Var { name, ty, kind, span: Span::NONE })
        });
        let counts = |k: &&Known| matches!(k.what, What::Index(_));
        let index = match self.scopes.known.iter().rev().find(counts) {
            Some(i) => {
                let i = Expr::read(Place::var(i.id));
                f(Func::Rem, vec![i, Expr::int(TABLE_LENGTH as i128)])
            }
            None => Expr::int((self.function.vars.len() % TABLE_LENGTH) as i128),
        };
        Expr::read(Place::var(table).with(Step::Index(vec![index])))
    }

    fn small_leaf(&mut self) -> Expr {
        match self.dice.below(8) {
            0 => {
                let v = self.dice.decimal(0.2, 0.9);
                typed(v)
            }
            1 => match self.counter() {
                Some(i) => {
                    let n = Expr::new(ExprKind::Cast(Box::new(i), Type::Generic("T".into())));
                    self.scaled(1.0 / self.long as f64, n)
                }
                None => typed(1.0),
            },
            2 => match self.place(Element::Int, Use::Read) {
                Some(p) => {
                    let k = f(Func::Rem, vec![Expr::read(p), Expr::int(3)]);
                    let n = Expr::new(ExprKind::Cast(Box::new(k), Type::Generic("T".into())));
                    self.scaled(0.3, n)
                }
                None => typed(0.5),
            },
            3 => {
                let number = match self.function.vars.len() % 2 {
                    0 => Expr::new(ExprKind::Named("HALF".into())),
                    _ => self.tabled(),
                };
                Expr::new(ExprKind::Cast(Box::new(number), Type::Generic("T".into())))
            }
            _ => match self.place(Element::Real, Use::ReadSmall) {
                Some(p) => Expr::read(p),
                None => match self.place(Element::Real, Use::Read) {
                    Some(p) => f(Func::Sin, vec![Expr::read(p)]),
                    None => typed(0.75),
                },
            },
        }
    }

    /// A choice at the point where the branch that isn't taken is infinite or has an infinite derivative: the difference of a
    /// value and itself, which is zero wherever the program runs.
    fn untaken(&mut self, depth: usize) -> Expr {
        let value = self.small(depth);
        let zero = f(Func::Sub, vec![value.clone(), value]);
        let s = self.small(depth);
        let singular = match self.dice.below(7) {
            0 => f(Func::Div, vec![s, zero.clone()]),
            1 => f(Func::Mul, vec![f(Func::Sin, vec![zero.clone()]), f(Func::Recip, vec![zero.clone()])]),
            2 => f(Func::Mul, vec![s, f(Func::Ln, vec![zero.clone()])]),
            3 => f(Func::Mul, vec![s, f(Func::Sqrt, vec![zero.clone()])]),
            4 => f(Func::Powf, vec![zero.clone(), s]),
            5 => f(Func::Sqrt, vec![f(Func::Div, vec![s, zero.clone()])]),
            _ => f(Func::Exp, vec![f(Func::Div, vec![s, zero.clone()])]),
        };
        let taken = self.small(depth);
        match self.dice.below(4) {
            0 => f(Func::Eq, vec![zero, Expr::int(0)]).choose(taken, singular),
            1 => f(Func::Ne, vec![zero, Expr::int(0)]).choose(singular, taken),
            2 => f(Func::Le, vec![zero, Expr::int(0)]).choose(taken, singular),
            _ => f(Func::Select, vec![f(Func::Eq, vec![zero, Expr::int(0)]), taken, singular]),
        }
    }

    /// A small index or length.
    fn counter(&mut self) -> Option<Expr> {
        let of = |k: &&crate::scope::Known| matches!(k.what, What::Index(_));
        let indices: Vec<VarId> = self.scopes.known.iter().filter(of).map(|k| k.id).collect();
        if let Some(v) = self.dice.pick(&indices) {
            return Some(Expr::read(Place::var(*v)));
        }
        let arrays = |k: &&crate::scope::Known| k.what.is_array();
        let arrays: Vec<_> = self.scopes.known.iter().filter(arrays).cloned().collect();
        let array = self.dice.pick(&arrays)?;
        let axis = (array.what == What::Matrix).then_some(1);
        Some(Expr::new(ExprKind::Len(Place::var(array.id), axis)))
    }

    /// A real number about within ±1.
    pub(crate) fn small(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return self.small_leaf();
        }
        let d = depth - 1;
        let e = match self.dice.below(43) {
            0..=2 => return self.small_leaf(),
            3 => f(Func::Sin, vec![self.linear(d)]),
            4 => f(Func::Cos, vec![self.linear(d)]),
            5 => f(Func::Tanh, vec![self.linear(d)]),
            6 => f(Func::Atan, vec![self.linear(d)]),
            7 | 8 => f(Func::Mul, vec![self.small(d), self.small(d)]),
            9 => f(Func::Add, vec![self.small(d), self.small(d)]),
            10 => f(Func::Sub, vec![self.small(d), self.small(d)]),
            11 => f(Func::Exp, vec![self.small(d)]),
            12 => f(Func::Sqrt, vec![self.positive(d)]),
            13 => f(Func::Ln, vec![self.positive(d)]),
            14 => f(Func::Log2, vec![self.positive(d)]),
            15 => f(Func::Log10, vec![self.positive(d)]),
            16 => f(Func::Log1p, vec![self.positive(d)]),
            17 => f(Func::Recip, vec![self.positive(d)]),
            18 => {
                let n = Expr::int(self.dice.below(5) as i128);
                f(Func::Powi, vec![self.small(d), n])
            }
            19 => f(Func::Powf, vec![self.positive(d), self.small(d)]),
            20 => f(Func::Hypot, vec![self.small(d), self.positive(0)]),
            21 => f(Func::Atan2, vec![self.linear(d), self.positive(d)]),
            22 => {
                let s = f(Func::Sin, vec![self.linear(d)]);
                f(Func::Asin, vec![self.scaled(0.9, s)])
            }
            23 => {
                let s = f(Func::Tanh, vec![self.linear(d)]);
                f(Func::Acos, vec![self.scaled(0.9, s)])
            }
            24 => f(Func::Expm1, vec![self.small(d)]),
            25 => f(Func::Sinh, vec![self.small(d)]),
            26 => f(Func::Cosh, vec![self.small(d)]),
            27 => {
                let s = f(Func::Sin, vec![self.linear(d)]);
                f(Func::Tan, vec![s])
            }
            28 => {
                let func = [Func::Floor, Func::Ceil, Func::Round, Func::Trunc][self.dice.below(4)];
                let s = self.small(d);
                let doubled = f(Func::Mul, vec![Expr::int(2), s]);
                f(func, vec![self.off_zero(doubled)])
            }
            29 => f(Func::LnGamma, vec![self.positive(d)]),
            30 => {
                let k = Expr::int(self.dice.below(2) as i128);
                f(Func::Polygamma, vec![k, self.positive(d)])
            }
            31..=33 => return self.of_complex(d),
            34 => Expr::new(ExprKind::Pure("given".into(), vec![self.small(d), self.linear(d)])),
            35 => {
                let n = match self.counter() {
                    Some(n) => n,
                    None => Expr::index(2),
                };
                return Expr::new(ExprKind::Pure("bend".into(), vec![self.linear(d), n]));
            }
            36 if self.dice.chance(40) => {
                let mixed = self.gauge(d);
                return element(mixed, 1);
            }
            36 => {
                let pair = Expr::new(ExprKind::Pure("polar".into(), vec![self.small(d), self.linear(d)]));
                return element(pair, self.dice.below(2) as u32);
            }
            37 => f(Func::Abs2, vec![self.small(d)]),
            38 => f(Func::Abs, vec![self.small(d)]),
            39 => {
                let func = [Func::Asinh, Func::Sigmoid][self.dice.below(2)];
                f(func, vec![self.linear(d)])
            }
            40 => match self.dice.below(8) {
                0 => f(Func::Cbrt, vec![self.positive(d)]),
                1 => f(Func::Acosh, vec![self.positive(d)]),
                2 => {
                    let s = f(Func::Sin, vec![self.linear(d)]);
                    f(Func::Atanh, vec![self.scaled(0.8, s)])
                }
                3 => f(Func::Exp2, vec![self.small(d)]),
                4 => f(Func::Erf, vec![self.linear(d)]),
                5 => f(Func::Erfc, vec![self.linear(d)]),
                6 => {
                    // the quotient stays between two integers
                    let (x, y) = (self.small(d), self.small(d));
                    let x = f(Func::Add, vec![Expr::int(5), self.scaled(0.3, x)]);
                    f(Func::Fmod, vec![x, f(Func::Add, vec![Expr::int(2), self.scaled(0.1, y)])])
                }
                _ => f(Func::Softplus, vec![self.small(d)]),
            },
            41 => self.untaken(d),
            _ => self.condition(d).choose(self.small(d), self.small(d)),
        };
        let c = self.dice.decimal(0.2, 0.6);
        self.scaled(c, e)
    }

    fn of_complex(&mut self, depth: usize) -> Expr {
        let z = self.small_complex(depth);
        match self.dice.below(5) {
            0 => f(Func::Re, vec![z]),
            1 => f(Func::Im, vec![z]),
            2 => {
                let e = f(Func::Abs2, vec![z]);
                self.scaled(0.5, e)
            }
            3 => {
                let e = f(Func::Norm, vec![f(Func::Add, vec![Expr::float(1.5), z])]);
                self.scaled(0.3, e)
            }
            _ => {
                let e = f(Func::Arg, vec![f(Func::Add, vec![Expr::float(2.5), z])]);
                self.scaled(0.5, e)
            }
        }
    }

    /// A complex number whose parts are about within ±1.
    pub(crate) fn small_complex(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.place(Element::Complex, Use::ReadSmall) {
                Some(p) if self.dice.chance(70) => Expr::read(p),
                _ => f(Func::Complex, vec![self.small(0), self.small(0)]),
            };
        }
        let d = depth - 1;
        let e = match self.dice.below(14) {
            0 | 1 => return self.small_complex(0),
            2 => return f(Func::Complex, vec![self.small(d), self.small(d)]),
            3 => return f(Func::Conj, vec![self.small_complex(d)]),
            4 | 5 => f(Func::Mul, vec![self.small_complex(d), self.small_complex(d)]),
            6 => f(Func::Add, vec![self.small_complex(d), self.small_complex(d)]),
            7 => f(Func::Sub, vec![self.small_complex(d), self.small_complex(d)]),
            8 => {
                let func = [Func::Exp, Func::Sin, Func::Cos, Func::Sinh, Func::Cosh][self.dice.below(5)];
                f(func, vec![self.small_complex(d)])
            }
            9 => {
                let func = [Func::Sqrt, Func::Ln, Func::Recip][self.dice.below(3)];
                f(func, vec![f(Func::Add, vec![Expr::float(2.5), self.small_complex(d)])])
            }
            10 => f(
                Func::Div,
                vec![self.small_complex(d), f(Func::Add, vec![Expr::float(2.5), self.small_complex(d)])],
            ),
            11 => {
                let n = Expr::int(2 + self.dice.below(2) as i128);
                f(Func::Powi, vec![self.small_complex(d), n])
            }
            12 => {
                let func = [Func::Tan, Func::Tanh][self.dice.below(2)];
                let z = self.small_complex(d);
                f(func, vec![self.scaled(0.3, z)])
            }
            _ => f(Func::Neg, vec![self.small_complex(d)]),
        };
        self.scaled(0.5, e)
    }

    /// A complex number that grows at most linearly.
    pub(crate) fn linear_complex(&mut self, depth: usize) -> Expr {
        let place = self.place(Element::Complex, Use::Read).filter(|_| self.dice.chance(50));
        match place {
            Some(p) => f(Func::Add, vec![self.small_complex(depth), Expr::read(p)]),
            None => self.small_complex(depth),
        }
    }

    /// An `i64`; arithmetic wraps.
    pub(crate) fn int(&mut self, depth: usize) -> Expr {
        if depth == 0 {
            return match self.place(Element::Int, Use::Read) {
                Some(p) if self.dice.chance(75) => Expr::read(p),
                _ => self.int_leaf(),
            };
        }
        let d = depth - 1;
        let c = Expr::int(1 + self.dice.below(6) as i128);
        match self.dice.below(16) {
            14 => Expr::new(ExprKind::Pure("which".into(), vec![self.int(d), self.condition(d)])),
            15 => element(self.gauge(d), 2),
            0 | 1 => f(Func::Add, vec![self.int(d), self.int(d)]),
            2 => f(Func::Sub, vec![self.int(d), self.int(d)]),
            3 => f(Func::Mul, vec![c, self.int(d)]),
            4 => f(Func::Quot, vec![self.int(d), c]),
            5 => f(Func::Rem, vec![self.int(d), c]),
            6 => f(Func::BitAnd, vec![self.int(d), c]),
            7 => f(Func::BitOr, vec![self.int(d), c]),
            8 => f(Func::BitXor, vec![self.int(d), self.int(d)]),
            9 => f(Func::Shl, vec![self.int(d), Expr::int(self.dice.below(3) as i128)]),
            10 => f(Func::Shr, vec![self.int(d), Expr::int(self.dice.below(3) as i128)]),
            11 => f(Func::Min, vec![self.int(d), self.int(d)]),
            12 => f(Func::Abs, vec![self.int(d)]),
            _ => self.condition(d).choose(self.int(d), self.int(d)),
        }
    }

    fn int_leaf(&mut self) -> Expr {
        let i64 = Type::Scalar(ScalarType::I64);
        let narrow = |k: &&Known| matches!(k.what, What::Narrow(_) | What::Depth);
        let narrow: Vec<VarId> = self.scopes.known.iter().filter(narrow).map(|k| k.id).collect();
        if let Some(v) = self.dice.pick(&narrow).copied().filter(|_| self.dice.chance(60)) {
            return Expr::new(ExprKind::Cast(Box::new(Expr::read(Place::var(v))), i64));
        }
        match self.counter() {
            Some(i) if self.dice.chance(60) => Expr::new(ExprKind::Cast(Box::new(i), i64)),
            _ => Expr::new(ExprKind::Literal(Number::Int(1 + self.dice.below(5) as i128), Some(i64))),
        }
    }

    /// A truth value.
    pub(crate) fn condition(&mut self, depth: usize) -> Expr {
        let d = depth.saturating_sub(1);
        match self.dice.below(if depth == 0 { 6 } else { 10 }) {
            9 => element(self.gauge(d), 0),
            0 | 1 => {
                let func = [Func::Lt, Func::Le, Func::Gt, Func::Ge][self.dice.below(4)];
                let e = self.linear(d);
                if self.dice.chance(60) && is_anchored(&e) {
                    let v = self.dice.decimal(-0.5, 0.5);
                    return f(func, vec![e, Expr::float(v)]);
                }
                let other = self.linear(d);
                self.compared(func, e, other)
            }
            2 => {
                let func = [Func::Lt, Func::Eq, Func::Ne, Func::Ge][self.dice.below(4)];
                let e = self.int(d);
                f(func, vec![f(Func::Rem, vec![e, Expr::int(2 + self.dice.below(2) as i128)]), Expr::int(0)])
            }
            3 | 4 => match self.counter() {
                Some(i) => {
                    let func = [Func::Lt, Func::Eq, Func::Ne, Func::Gt][self.dice.below(4)];
                    f(func, vec![i, Expr::int(self.dice.below(SHORT) as i128)])
                }
                None => self.truth(),
            },
            5 => self.truth(),
            6 => f(Func::And, vec![self.condition(d), self.condition(d)]),
            7 => f(Func::Or, vec![self.condition(d), self.condition(d)]),
            _ => f(Func::Not, vec![self.condition(d)]),
        }
    }

    /// A truth value, a real number and an integer, each computed from all three.
    fn gauge(&mut self, depth: usize) -> Expr {
        let args = vec![self.int(depth), self.linear(depth), self.condition(depth)];
        Expr::new(ExprKind::Pure("gauge".into(), args))
    }

    /// Several numbers, as a tuple or an array: branches of them, constants, calls.
    pub(crate) fn several(&mut self, what: &What, depth: usize) -> Expr {
        if depth > 0 && self.dice.chance(60) {
            return self.condition(1).choose(self.several(what, depth - 1), self.several(what, depth - 1));
        }
        let constant = self.dice.chance(35);
        if !constant && self.dice.chance(40) {
            match what {
                What::Duo => {
                    let args = vec![self.small(1), self.linear(1)];
                    return Expr::new(ExprKind::Pure("polar".into(), args));
                }
                What::Mixed => return self.gauge(1),
                _ => {}
            }
        }
        let number = |g: &mut Self| match constant || g.dice.chance(20) {
            true => Expr::new(ExprKind::Literal(
                Number::Int(g.dice.below(2) as i128),
                Some(Type::Generic("T".into())),
            )),
            false => g.small(1),
        };
        match what {
            What::Mixed => {
                let x = number(self);
                let (b, n) = match constant {
                    true => {
                        let n = Number::Int(self.dice.below(4) as i128);
                        let n = Expr::new(ExprKind::Literal(n, Some(Type::Scalar(ScalarType::I64))));
                        (Expr::bool(self.dice.chance(50)), n)
                    }
                    false => (self.condition(1), self.int(1)),
                };
                Expr::new(ExprKind::Tuple(vec![b, x, n]))
            }
            What::Duo => Expr::new(ExprKind::Tuple(vec![number(self), number(self)])),
            _ if constant => {
                let (x, n) = (number(self), Expr::int(SHORT as i128));
                Expr::new(ExprKind::Repeat(Box::new(x), Box::new(n)))
            }
            _ => Expr::new(ExprKind::Array((0..SHORT).map(|_| number(self)).collect())),
        }
    }

    fn truth(&mut self) -> Expr {
        match self.place(Element::Bool, Use::Read) {
            Some(p) => Expr::read(p),
            None => {
                let (a, b) = (self.small(0), self.small(0));
                self.compared(Func::Lt, a, b)
            }
        }
    }

    /// A comparison of two real numbers that aren't equal by construction where either is computed from what comes
    /// back up to rounding, as two elements of a new ancilla are: it would be decided otherwise on the way back.
    fn compared(&mut self, func: Func, a: Expr, b: Expr) -> Expr {
        match self.comes_back(&a) || self.comes_back(&b) {
            true => f(func, vec![a, self.beside(b)]),
            false => f(func, vec![a, b]),
        }
    }

    /// A real number whose sign, or whose whole part, is taken: likewise not zero by construction, as a new ancilla is.
    fn off_zero(&mut self, e: Expr) -> Expr {
        match self.comes_back(&e) {
            true => self.beside(e),
            false => e,
        }
    }

    /// Whether an expression is computed from bindings and ancillas, which come back up to rounding.
    fn comes_back(&self, e: &Expr) -> bool {
        let own = |v: VarId| matches!(self.function.var(v).kind, VarKind::Ancilla | VarKind::Binding);
        let mut found = false;
        e.each_read(&mut |p| found |= own(p.var));
        found
    }

    /// A number that isn't `e`, nor half a whole number from it.
    fn beside(&mut self, e: Expr) -> Expr {
        let apart = typed(self.dice.decimal(0.1, 0.45));
        f(Func::Add, vec![e, apart])
    }

    /// A value of a kind of scalar, of a random depth.
    pub(crate) fn value(&mut self, element: Element) -> Expr {
        let depth = self.dice.below(4);
        match element {
            Element::Real => self.linear(depth),
            Element::Complex => self.linear_complex(depth.min(2)),
            Element::Int => self.int(depth.min(2)),
            Element::Bool => self.condition(depth.min(2)),
        }
    }
}
