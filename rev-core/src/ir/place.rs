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
    /// `a[i..j]` of a slice: the elements from `i` to before `j`. Only as an argument of a call.
    Range(Box<Expr>, Box<Expr>),
    /// The real part.
    Re,
    /// The imaginary part.
    Im,
}

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

    /// The index expressions on the path.
    pub fn indices(&self) -> impl Iterator<Item = &Expr> {
        self.path.iter().flat_map(|s| -> Vec<&Expr> {
            match s {
                Step::Index(es) => es.iter().collect(),
                Step::Range(a, b) => vec![a, b],
                Step::Field(_) | Step::Element(_) | Step::Re | Step::Im => Vec::new(),
            }
        })
    }
}
