//! Functions of whole arrays: `matmul(a, b.t())`, `dot(x, y)`, `contract("ik,kj->ij", a, b)`.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Expr, ExprKind, Place, Type};
use rev_compiler::ops::{ArrayFunc, Axes, Contraction, Func, Operand, Part};

use super::{plain_name, strip, strip_references, Lowerer};

/// An argument: an array, and how it is looked at.
struct View {
    place: Place,
    transposed: bool,
    conj: bool,
    /// What of the stored matrix counts.
    shown: Shown,
}

/// Which elements of a stored matrix stand for the matrix that is meant.
#[derive(Clone, Copy, PartialEq)]
enum Shown {
    /// These; the others are zero.
    Part(Part),
    /// These, which are on one side of the diagonal, and ones on the diagonal.
    Unit(Part),
    /// These, with the diagonal, and the same on the other side of it.
    Symmetric(Part),
}

impl Shown {
    fn from_name(name: &str) -> Option<Shown> {
        let part = |name| Part::ALL.iter().find(|(p, n)| *n == name && *p != Part::Whole).map(|(p, _)| *p);
        match name {
            "unit_lower" => Some(Shown::Unit(Part::StrictLower)),
            "unit_upper" => Some(Shown::Unit(Part::StrictUpper)),
            "symmetric_lower" => Some(Shown::Symmetric(Part::Lower)),
            "symmetric_upper" => Some(Shown::Symmetric(Part::Upper)),
            name => part(name).map(Shown::Part),
        }
    }

    fn transposed(self) -> Shown {
        match self {
            Shown::Part(p) => Shown::Part(p.transposed()),
            Shown::Unit(p) => Shown::Unit(p.transposed()),
            Shown::Symmetric(p) => Shown::Symmetric(p.transposed()),
        }
    }
}

/// A product on its way: some factors are settled.
#[derive(Clone)]
struct Product {
    target: Operand,
    operands: Vec<Operand>,
    factors: Vec<Expr>,
}

impl Lowerer {
    /// A call of a function of whole arrays; the inner `None` after an error, the outer one for
    /// another function.
    #[allow(clippy::option_option)]
    pub(super) fn array_call(&mut self, name: &str, c: &syn::ExprCall) -> Option<Option<Expr>> {
        let args: Vec<&syn::Expr> = c.args.iter().collect();
        if let ("contract", [formula, args @ ..]) = (name, args.as_slice()) {
            let syn::Expr::Lit(syn::ExprLit { lit: syn::Lit::Str(text), .. }) = strip(formula) else {
                return None;
            };
            return Some(match Contraction::parse(&text.value()) {
                Ok(formula) if formula.factors().len() == args.len() => self.product(formula, args, c),
                Ok(formula) => {
                    let message =
                        super::call::wrong_count("contract", formula.factors().len() + 1, args.len() + 1);
                    self.error(Code::ArgumentCount, &c.func, message)
                }
                Err(message) => {
                    self.error_help(Code::ArrayFormula, text, message, "a matrix product is \"ik,kj->ij\"")
                }
            });
        }
        let formula = ArrayFunc::from_name(name)?.formula();
        // another number of arguments: a `#[pure]` function of this name
        (formula.factors().len() == args.len()).then(|| self.product(formula, &args, c))
    }

    fn product(&mut self, formula: Contraction, args: &[&syn::Expr], c: &syn::ExprCall) -> Option<Expr> {
        let span = self.span(c);
        let mut products =
            vec![Product { target: formula.target, operands: Vec::new(), factors: Vec::new() }];
        let views: Vec<Option<Result<View, Expr>>> = formula
            .factors()
            .iter()
            .zip(args)
            .map(|(operand, arg)| match operand.is_scalar() {
                true => self.expr(arg).map(Err),
                false => self.array_view(arg).map(Ok),
            })
            .collect();
        // factors that a unit triangle takes away leave the others' letters changed
        let mut rest: Vec<Operand> = formula.factors().to_vec();
        rest.reverse();
        for (k, view) in views.into_iter().enumerate() {
            let operand = rest.pop()?;
            products = match view? {
                Err(scalar) => products.into_iter().map(|p| p.with(operand, scalar.clone())).collect(),
                Ok(view) => {
                    let later = &formula.factors()[k + 1..];
                    self.looked_at(products, operand, view, later, args[k])?
                }
            };
        }
        let terms = products.into_iter().map(|p| {
            let formula = Contraction::new(p.target, &p.operands)?;
            Some(Expr::new(ExprKind::Contract(formula, p.factors)).at(span))
        });
        match terms.collect::<Option<Vec<_>>>() {
            Some(terms) => terms.into_iter().reduce(|a, b| Expr::func(Func::Add, vec![a, b]).at(span)),
            None => self.error(
                Code::ArrayFormula,
                &c.func,
                "nothing is left of this product beside a diagonal of ones",
            ),
        }
    }

    /// The products with one more factor: twice as many where it is looked at in two parts.
    fn looked_at(
        &mut self,
        products: Vec<Product>,
        operand: Operand,
        view: View,
        later: &[Operand],
        at: &syn::Expr,
    ) -> Option<Vec<Product>> {
        let plain = view.shown == Shown::Part(Part::Whole) && !view.transposed;
        let matrix = operand.rank() == Some(2);
        if !plain && !matrix {
            return self.error_help(
                Code::ArrayFormula,
                at,
                "only a matrix is transposed or has triangles, and this function takes all axes as they are",
                "write the formula: `contract(\"ij,ji->\", a, b)`",
            );
        }
        let own = if view.transposed { operand.transposed() } else { operand };
        let own = Operand { conj: view.conj != operand.conj, ..own };
        let factor = Expr::read(view.place);
        let with = |part: Part, own: Operand| {
            let (own, factor) = (Operand { part, ..own }, factor.clone());
            products.iter().map(move |p| p.clone().with(own, factor.clone())).collect::<Vec<_>>()
        };
        Some(match view.shown {
            Shown::Part(part) => with(if part == Part::Whole { operand.part } else { part }, own),
            Shown::Symmetric(part) => {
                let strict = if part == Part::Lower { Part::StrictLower } else { Part::StrictUpper };
                let mut both = with(part, own);
                both.extend(with(strict, own.transposed()));
                both
            }
            Shown::Unit(part) => {
                // with ones on the diagonal alone, its two letters are one; where a later factor has
                // the second letter, that one is kept
                let [row, column] = own.letters() else { return None };
                let has = |letter: &u8| later.iter().any(|o| o.letters().contains(letter));
                let (from, to) = if has(column) { (*row, *column) } else { (*column, *row) };
                let mut both = with(part, own);
                if has(&from) {
                    return self.error(
                        Code::ArrayFormula,
                        at,
                        "a unit triangle can't share both its indices with later factors",
                    );
                }
                both.extend(products.iter().map(|p| p.clone().renamed(from, to)));
                both
            }
        })
    }

    /// An array by name: `a`, `a.t()`, `conj(a)`, `lower(a)` and so on.
    fn array_view(&mut self, e: &syn::Expr) -> Option<View> {
        match strip_references(e) {
            syn::Expr::MethodCall(m) if m.args.is_empty() => {
                let view = self.array_view(&m.receiver)?;
                match plain_name(&m.method).as_str() {
                    "t" => Some(View { transposed: !view.transposed, ..view }),
                    "conj" => Some(View { conj: !view.conj, ..view }),
                    "view" => Some(view),
                    _ => self.not_an_array(&m.method),
                }
            }
            syn::Expr::Call(c) if c.args.len() == 1 => {
                let name = match strip(&c.func) {
                    syn::Expr::Path(p) => p.path.get_ident().map(plain_name).unwrap_or_default(),
                    _ => String::new(),
                };
                if name == "conj" {
                    return self.array_view(&c.args[0]).map(|v| View { conj: !v.conj, ..v });
                }
                let Some(shown) = Shown::from_name(&name) else { return self.not_an_array(&c.func) };
                let view = self.array_view(&c.args[0])?;
                if view.shown != Shown::Part(Part::Whole) {
                    return self.error(Code::ArrayFormula, &c.func, "a triangle of a triangle");
                }
                let shown = if view.transposed { shown.transposed() } else { shown };
                Some(View { shown, ..view })
            }
            e => {
                let place = match self.try_place(e)? {
                    Some(place) => place,
                    None => return self.not_an_array(e),
                };
                Some(View { place, transposed: false, conj: false, shown: Shown::Part(Part::Whole) })
            }
        }
    }

    fn not_an_array<T>(&mut self, at: &impl quote::ToTokens) -> Option<T> {
        self.error_help(
            Code::ArrayFormula,
            at,
            "a function of whole arrays takes arrays by name",
            "compute it into an ancilla first: `let mut t: Array2<T> = zeros((n, m)); t += ...;`",
        )
    }
}

impl Product {
    fn with(mut self, operand: Operand, factor: Expr) -> Product {
        self.operands.push(operand);
        self.factors.push(factor);
        self
    }

    fn renamed(self, from: u8, to: u8) -> Product {
        let operands = self.operands.into_iter().map(|o| o.renamed(from, to)).collect();
        Product { target: self.target.renamed(from, to), operands, ..self }
    }
}

/// The part of a matrix that a target `lower(c)` names.
pub(super) fn target_part(name: &str) -> Option<Part> {
    match Shown::from_name(name)? {
        Shown::Part(part) => Some(part),
        Shown::Unit(_) | Shown::Symmetric(_) => None,
    }
}

impl Lowerer {
    /// The right side of an update of an array as a sum of products: each with its sign. `None` where it
    /// has no array that is more than read, or isn't such a sum.
    pub(super) fn products(&self, value: &Expr) -> Option<Vec<(bool, Expr)>> {
        if matches!(value.kind, ExprKind::Read(_)) || !self.has_array(value) {
            return None;
        }
        let mut out = Vec::new();
        self.collect(value, false, None, &mut out)?;
        Some(out)
    }

    fn has_array(&self, e: &Expr) -> bool {
        match &e.kind {
            ExprKind::Contract(formula, _) => !formula.target.is_scalar(),
            ExprKind::Func(Func::Add | Func::Sub | Func::Neg | Func::Mul, args) => {
                args.iter().any(|a| self.has_array(a))
            }
            ExprKind::Read(place) => matches!(self.type_of_place(place), Type::Array(..) | Type::Fixed(..)),
            _ => false,
        }
    }

    fn collect(
        &self,
        e: &Expr,
        negative: bool,
        scale: Option<&Expr>,
        out: &mut Vec<(bool, Expr)>,
    ) -> Option<()> {
        let (mut formula, mut factors) = match (&e.kind, ArrayFunc::Entries.formula()) {
            (ExprKind::Func(Func::Add, args), _) => {
                return args.iter().try_for_each(|a| self.collect(a, negative, scale, out))
            }
            (ExprKind::Func(Func::Sub, args), _) => {
                self.collect(args.first()?, negative, scale, out)?;
                return self.collect(args.get(1)?, !negative, scale, out);
            }
            (ExprKind::Func(Func::Neg, args), _) => {
                return self.collect(args.first()?, !negative, scale, out)
            }
            (ExprKind::Func(Func::Mul, args), _) => {
                let (by, array) = match args.as_slice() {
                    [a, b] if self.has_array(b) && !self.has_array(a) => (a, b),
                    [a, b] if self.has_array(a) && !self.has_array(b) => (b, a),
                    _ => return None,
                };
                let by = match scale {
                    Some(scale) => Expr::func(Func::Mul, vec![scale.clone(), by.clone()]).at(e.span),
                    None => by.clone(),
                };
                return self.collect(array, negative, Some(&by), out);
            }
            (ExprKind::Contract(formula, factors), _) if !formula.target.is_scalar() => {
                (*formula, factors.clone())
            }
            (ExprKind::Read(_), entries) => (entries, vec![e.clone()]),
            _ => return None,
        };
        if let Some(scale) = scale {
            formula = formula.scaled()?;
            factors.push(scale.clone());
        }
        out.push((negative, Expr::new(ExprKind::Contract(formula, factors)).at(e.span)));
        Some(())
    }
}

/// The product whose target is a part of an array; `None` where it is no product of arrays.
pub(super) fn into_part(value: Expr, part: Part) -> Option<Expr> {
    let span = value.span;
    let ExprKind::Contract(formula, factors) = value.kind else { return None };
    let mut target = formula.target;
    if !matches!(target.axes, Axes::Letters(_, 2)) || target.part != Part::Whole {
        return None;
    }
    target.part = part;
    let formula = Contraction::new(target, formula.factors())?;
    Some(Expr::new(ExprKind::Contract(formula, factors)).at(span))
}

/// The conjugate of a product: of all its factors.
pub(super) fn conjugated(value: Expr) -> Expr {
    let span = value.span;
    match value.kind {
        ExprKind::Contract(formula, factors) => {
            let flipped: Vec<Operand> =
                formula.factors().iter().map(|o| Operand { conj: !o.conj, ..*o }).collect();
            let formula = Contraction::new(formula.target, &flipped).unwrap_or(formula);
            Expr::new(ExprKind::Contract(formula, factors)).at(span)
        }
        kind => Expr::func(Func::Conj, vec![Expr { kind, span }]).at(span),
    }
}
