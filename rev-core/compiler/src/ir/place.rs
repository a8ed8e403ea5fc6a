//! Places: what can be read and written.

use super::{Expr, Span, VarId};

/// A variable with a path into it: `cams[i].rot[2]`, `z.re`.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// The variable.
    pub var: VarId,
    /// The path, outermost step first.
    pub path: Vec<Step>,
    /// Where it stands in the source.
    pub span: Span,
}

/// One step of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A struct's field. `re` and `im` of a complex number are [`Step::Re`] and [`Step::Im`] where
    /// the type is known to be complex; elsewhere they are fields of these names, which means the same.
    Field(String),
    /// A tuple's element.
    Element(u32),
    /// An array's element: one index expression for each dimension.
    Index(Vec<Expr>),
    /// A part of an array: what it takes of the first axes, and all of the others; at least one is given,
    /// and the last one given isn't whole. `a[i..j]` of a slice, a row `x[i, ..]` and a column `x[.., j]` of
    /// a matrix. Only as an argument of a call or in a product of arrays, and the end of a path.
    Part(Vec<Axis>),
    /// The real part.
    Re,
    /// The imaginary part.
    Im,
}

/// What a part of an array takes of one axis.
#[derive(Clone, Debug, PartialEq)]
pub enum Axis {
    /// One index: the part doesn't have the axis.
    At(Expr),
    /// The indices from the first to before the second.
    Range(Expr, Expr),
    /// All of them.
    Whole,
}

impl Axis {
    /// Whether it takes the same of an axis, wherever both stand in the source.
    pub fn same(&self, other: &Axis) -> bool {
        match (self, other) {
            (Axis::At(a), Axis::At(b)) => a.same(b),
            (Axis::Range(a, b), Axis::Range(c, d)) => a.same(c) && b.same(d),
            (Axis::Whole, Axis::Whole) => true,
            (Axis::At(_) | Axis::Range(..) | Axis::Whole, _) => false,
        }
    }

    /// The expressions in it.
    pub fn exprs(&self) -> impl Iterator<Item = &Expr> {
        let (first, second) = match self {
            Axis::At(e) => (Some(e), None),
            Axis::Range(a, b) => (Some(a), Some(b)),
            Axis::Whole => (None, None),
        };
        first.into_iter().chain(second)
    }

    /// The same, to change them.
    pub fn exprs_mut(&mut self) -> impl Iterator<Item = &mut Expr> {
        let (first, second) = match self {
            Axis::At(e) => (Some(e), None),
            Axis::Range(a, b) => (Some(a), Some(b)),
            Axis::Whole => (None, None),
        };
        first.into_iter().chain(second)
    }
}

impl Step {
    /// `a[i..j]`.
    pub fn range(from: Expr, to: Expr) -> Step {
        Step::Part(vec![Axis::Range(from, to)])
    }

    /// The part with an axis fixed at an index: a row is one of axis 0, a column one of axis 1.
    pub fn at(axis: usize, index: Expr) -> Step {
        Step::Part(std::iter::repeat_n(Axis::Whole, axis).chain([Axis::At(index)]).collect())
    }

    /// A part, `None` where all of the array is taken. Whole axes at the end aren't given.
    pub fn part(mut axes: Vec<Axis>) -> Option<Step> {
        while axes.last() == Some(&Axis::Whole) {
            axes.pop();
        }
        (!axes.is_empty()).then_some(Step::Part(axes))
    }

    /// What it takes of the axes of an array; `None` where it isn't a step into one.
    pub fn axes(&self) -> Option<Vec<AxisRef<'_>>> {
        match self {
            Step::Index(es) => Some(es.iter().map(AxisRef::At).collect()),
            Step::Part(axes) => Some(axes.iter().map(AxisRef::from).collect()),
            Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => None,
        }
    }

    /// The expressions in it.
    pub fn exprs(&self) -> Box<dyn Iterator<Item = &Expr> + '_> {
        match self {
            Step::Index(es) => Box::new(es.iter()),
            Step::Part(axes) => Box::new(axes.iter().flat_map(Axis::exprs)),
            Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => Box::new(std::iter::empty()),
        }
    }
}

/// What a step takes of one axis: an index is a part with one index of each.
#[derive(Clone, Copy, Debug)]
pub enum AxisRef<'e> {
    /// One index.
    At(&'e Expr),
    /// The indices from the first to before the second.
    Range(&'e Expr, &'e Expr),
    /// All of them.
    Whole,
}

/// What two steps take of each axis that one of them names.
pub fn axes_of_both<'e>(a: &'e Step, b: &'e Step) -> impl Iterator<Item = (AxisRef<'e>, AxisRef<'e>)> {
    let (a, b) = (a.axes().unwrap_or_default(), b.axes().unwrap_or_default());
    let count = a.len().max(b.len());
    let whole = std::iter::repeat(AxisRef::Whole);
    a.into_iter().chain(whole.clone()).zip(b.into_iter().chain(whole)).take(count)
}

impl<'e> From<&'e Axis> for AxisRef<'e> {
    fn from(axis: &'e Axis) -> AxisRef<'e> {
        match axis {
            Axis::At(e) => AxisRef::At(e),
            Axis::Range(a, b) => AxisRef::Range(a, b),
            Axis::Whole => AxisRef::Whole,
        }
    }
}

/// The field of a value of an enum that holds its parts: which variant it is, and the fields of all variants.
pub const PARTS: &str = "__parts";

/// How the part of an enum begins that has, in every value, the number of a variant; the variant's name follows in small letters.
pub const NUMBER_OF: &str = "number_of_";

impl Place {
    /// The whole variable.
    pub fn var(var: VarId) -> Place {
        Place { var, path: Vec::new(), span: Span::NONE }
    }

    /// This place with one more step.
    pub fn with(mut self, step: Step) -> Place {
        self.path.push(step);
        self
    }

    /// The same place with another variable as its root: the shadow of a place.
    pub fn rooted_at(&self, var: VarId) -> Place {
        Place { var, path: self.path.clone(), span: self.span }
    }

    /// Whether this is the same place, wherever both stand in the source.
    pub fn same(&self, other: &Place) -> bool {
        let same = |(a, b): (&Step, &Step)| match (a, b) {
            (Step::Index(a), Step::Index(b)) => super::expr::all_same(a, b),
            (Step::Part(a), Step::Part(b)) => a.len() == b.len() && a.iter().zip(b).all(|(a, b)| a.same(b)),
            (Step::Field(_) | Step::Element(_) | Step::Index(_) | Step::Part(_) | Step::Re | Step::Im, _) => {
                a == b
            }
        };
        self.var == other.var
            && self.path.len() == other.path.len()
            && self.path.iter().zip(&other.path).all(same)
    }

    /// The fields with which the path begins, up to an enum, whose parts belong together.
    pub fn field(&self) -> &[Step] {
        let is_within = |s: &Step| match s {
            Step::Field(name) => name == PARTS,
            Step::Element(_) => false,
            Step::Index(_) | Step::Part(_) | Step::Re | Step::Im => true,
        };
        let end = self.path.iter().position(is_within);
        &self.path[..end.unwrap_or(self.path.len())]
    }

    /// The index expressions on the path.
    pub fn indices(&self) -> impl Iterator<Item = &Expr> {
        self.path.iter().flat_map(Step::exprs)
    }

    /// Whether it is a part of an array that isn't an element.
    pub fn is_part(&self) -> bool {
        matches!(self.path.last(), Some(Step::Part(_)))
    }
}
