//! The types of places: each step of a path takes a type apart.

use std::collections::BTreeMap;

use crate::diag::{Code, Diagnostic};
use crate::ir::{Axis, Class, Expr, ExprKind, Length, Number, Place, Rank, Span, Step, StructDef, PARTS};

use super::solver::Solver;
use super::term::{Head, Term};

impl<'a> Solver<'a> {
    /// The type of a place; its indices are typed on the way.
    pub fn place(&mut self, place: &Place) -> Term {
        let mut term = self.var(place.var);
        for k in 0..place.path.len() {
            term = self.step(place, k, &term);
        }
        term
    }

    /// The type of the first `k + 1` steps, where `whole` is that of the first `k`.
    fn step(&mut self, place: &Place, k: usize, whole: &Term) -> Term {
        let step = &place.path[k];
        match (self.terms.shallow(whole), step) {
            (Term::Node(Head::Shadow, parts), _) => {
                let inner = parts.first().cloned().unwrap_or_else(|| self.terms.hole());
                Term::shadow(self.step(place, k, &inner))
            }
            (Term::Hole(_), _) => self.unknown_part(place, k),
            (Term::Node(Head::Struct(name), args), Step::Field(field)) => match self.definition(&name) {
                Some(def) => self
                    .field(def, &args, field)
                    .unwrap_or_else(|| self.no_part(place, k, whole, &format!("no field `{field}`"))),
                // whether there is a value, and that
                None if name == "Option" && field == PARTS && args.len() == 1 => {
                    Term::Node(Head::Tuple, [Term::BOOL].into_iter().chain(args).collect())
                }
                None => self.unknown_part(place, k),
            },
            (Term::Node(Head::Struct(name), args), Step::Element(n)) => match self.definition(&name) {
                // a tuple struct's fields have numbers for names
                Some(def) => self
                    .field(def, &args, &n.to_string())
                    .unwrap_or_else(|| self.no_part(place, k, whole, &format!("no field {n}"))),
                None => self.unknown_part(place, k),
            },
            (Term::Node(Head::Struct(_), _), _) => self.unknown_part(place, k),
            (Term::Node(Head::Tuple, parts), Step::Element(n)) => match parts.get(*n as usize) {
                Some(part) => part.clone(),
                None => self.no_part(place, k, whole, &format!("no element {n}")),
            },
            (Term::Node(Head::Array(rank), parts), Step::Index(es)) => {
                self.indices(es, place.span);
                if let Rank::Fixed(n) = rank {
                    self.dimensions(place, usize::from(n), es.len());
                }
                parts[0].clone()
            }
            (Term::Node(Head::Fixed(length), parts), Step::Index(es)) => {
                self.indices(es, place.span);
                self.dimensions(place, 1, es.len());
                self.within(place, &length, es);
                parts[0].clone()
            }
            (Term::Node(head @ (Head::Array(_) | Head::Fixed(_)), parts), Step::Part(axes)) => {
                step.exprs().for_each(|e| self.index(e, place.span));
                let dropped = axes.iter().filter(|a| matches!(a, Axis::At(_))).count();
                let rank = match head {
                    Head::Array(Rank::Dynamic) => return Term::Node(head, parts),
                    Head::Array(Rank::Fixed(rank)) => usize::from(rank),
                    _ => 1,
                };
                match rank.checked_sub(dropped) {
                    _ if axes.len() > rank => {
                        self.no_part(place, k, whole, &format!("no axis {}", axes.len() - 1))
                    }
                    Some(left @ 1..) => Term::array(parts[0].clone(), u8::try_from(left).unwrap_or(u8::MAX)),
                    _ => self.no_part(place, k, whole, "no other axis: this is an element"),
                }
            }
            (Term::Node(Head::Complex, parts), Step::Re | Step::Im) => parts[0].clone(),
            (Term::Node(Head::Complex, parts), Step::Field(f)) if f == "re" || f == "im" => parts[0].clone(),
            (Term::Leaf(ty), Step::Re | Step::Im) => match self.class(&ty) {
                Some(Class::Real) => whole.clone(),
                Some(Class::Field) => self.unknown_part(place, k),
                _ => self.no_part(place, k, whole, "no real and imaginary part"),
            },
            (Term::Leaf(ty), Step::Field(f)) if f == "re" || f == "im" => match self.class(&ty) {
                Some(Class::Real) => whole.clone(),
                Some(Class::Field) => self.unknown_part(place, k),
                _ => self.no_part(place, k, whole, "no real and imaginary part"),
            },
            (_, Step::Field(name)) => self.no_part(place, k, whole, &format!("no field `{name}`")),
            (_, Step::Element(n)) => self.no_part(place, k, whole, &format!("no element {n}")),
            (_, Step::Index(_)) => self.no_part(place, k, whole, "no elements"),
            (_, Step::Part(_)) => self.no_part(place, k, whole, "no slices"),
            (_, Step::Re | Step::Im) => self.no_part(place, k, whole, "no real and imaginary part"),
        }
    }

    /// A part of something whose type isn't known: the same part has the same type everywhere.
    fn unknown_part(&mut self, place: &Place, k: usize) -> Term {
        place.path[k].exprs().for_each(|e| self.index(e, place.span));
        let key = (place.var, place.path[..=k].iter().map(shape).collect::<String>());
        match self.parts.get(&key) {
            Some(term) => term.clone(),
            None => {
                let term = self.unknown();
                self.parts.insert(key, term.clone());
                term
            }
        }
    }

    /// A struct's definition, where it is at hand.
    fn definition(&self, name: &str) -> Option<&'a StructDef> {
        let module = self.scope.module?;
        module.structs.get(module.resolve(self.scope.name, name)).or_else(|| module.structs.get(name))
    }

    /// The type of a struct's field.
    fn field(&mut self, def: &StructDef, args: &[Term], field: &str) -> Option<Term> {
        let (_, ty) = def.fields.iter().find(|(f, _)| f == field)?;
        let parameters: BTreeMap<String, Term> =
            def.generics.iter().map(|g| g.name.clone()).zip(args.iter().cloned()).collect();
        Some(self.terms.instance(ty, &parameters))
    }

    fn indices(&mut self, indices: &[Expr], span: Span) {
        indices.iter().for_each(|e| self.index(e, span));
    }

    /// An index, which is a `usize`.
    pub fn index(&mut self, index: &Expr, span: Span) {
        let found = self.expr(index);
        if !self.terms.unify(&Term::INDEX, &found) {
            let ty = self.terms.resolve(&found);
            let span = if index.span.is_some() { index.span } else { span };
            self.out.push(
                Diagnostic::new(
                    Code::IndexType,
                    span,
                    format!("an index is a `usize`, but this is of type `{ty}`"),
                )
                .help("convert it: `... as usize`"),
            );
        }
    }

    fn dimensions(&mut self, place: &Place, wanted: usize, given: usize) {
        if wanted != given {
            let verb = if given == 1 { "is" } else { "are" };
            let needed = count(wanted, "index is", "indices are");
            let message = format!("{needed} needed here, but {given} {verb} given");
            self.out.push(Diagnostic::new(Code::IndexType, place.span, message));
        }
    }

    fn within(&mut self, place: &Place, length: &Length, indices: &[Expr]) {
        let [Expr { kind: ExprKind::Literal(Number::Int(i), _), span }] = indices else { return };
        if let Length::Literal(n) = length {
            if *i >= i128::from(*n) {
                let message = format!("there is no element {i} in an array of {n}");
                let span = if span.is_some() { *span } else { place.span };
                self.out.push(Diagnostic::new(Code::NoSuchPart, span, message));
            }
        }
    }

    fn no_part(&mut self, place: &Place, k: usize, whole: &Term, what: &str) -> Term {
        if let Step::Index(_) = &place.path[k] {
            place.path[k].exprs().for_each(|e| self.index(e, place.span));
        }
        let message = format!("a value of type `{}` has {what}", self.terms.resolve(whole));
        self.out.push(Diagnostic::new(Code::NoSuchPart, place.span, message));
        self.terms.hole()
    }
}

fn shape(step: &Step) -> String {
    match step {
        Step::Field(name) => format!(".{name}"),
        Step::Element(n) => format!(".{n}"),
        Step::Index(es) => format!("[{}]", es.len()),
        Step::Part(axes) => {
            let axis = |a: &Axis| match a {
                Axis::At(_) => "i,",
                Axis::Range(..) | Axis::Whole => "..,",
            };
            format!("[{}..]", axes.iter().map(axis).collect::<String>())
        }
        Step::Re => ".re".to_string(),
        Step::Im => ".im".to_string(),
    }
}

/// `1 index`, `2 indices`.
pub(super) fn count(n: usize, one: &str, many: &str) -> String {
    format!("{n} {}", if n == 1 { one } else { many })
}
