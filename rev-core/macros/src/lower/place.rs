//! Places: variables, elements, fields, parts. `*`, `&` and `&mut` in front are dropped.

use rev_compiler::diag::Code;
use rev_compiler::ir::{Block, Expr, ExprKind, Place, Step, Stmt, StmtKind, Type, VarKind};

use super::expr::names_function;
use super::part::{element, part_method, within};
use super::{plain_name, strip_references, Lowerer};
use crate::spans::Region;
use crate::types::path_text;

impl Lowerer {
    /// A place, or an error that says why this isn't one.
    pub(super) fn place(&mut self, e: &syn::Expr) -> Option<Place> {
        let e = strip_references(e);
        match self.try_place(e)? {
            Some(place) => Some(place),
            None if unknown_root(e).is_some() => {
                let name = unknown_root(e).map(|p| path_text(&p.path)).unwrap_or_default();
                self.error_help(
                    Code::UnknownName,
                    e,
                    format!("no variable `{name}` is in scope"),
                    format!("declare it: `let mut {name} = ...;` for an ancilla, `let {name} = ...;` for a binding"),
                )
            }
            None => self.error_help(
                Code::NotAPlace,
                e,
                "this has no storage that could be changed",
                "a variable, an element or a field is needed here",
            ),
        }
    }

    /// `Some(None)` for what isn't spelled as a place, `None` after an error.
    pub(super) fn try_place(&mut self, e: &syn::Expr) -> Option<Option<Place>> {
        let e = strip_references(e);
        let span = self.source.spans.record(Region::of_expr(e));
        let place = match e {
            syn::Expr::Path(p) => self.variable(p),
            syn::Expr::Field(f) => {
                let Some(base) = self.try_place(&f.base)? else { return Some(None) };
                let step = self.field_step(&base, &f.member);
                Some(base.with(step))
            }
            syn::Expr::Index(i) => {
                let base = match self.try_place(&i.expr)? {
                    Some(base) => Some(base),
                    None => self.table(&i.expr)?,
                };
                let Some(base) = base else { return Some(None) };
                Some(self.indexed(base, &i.index))
            }
            syn::Expr::MethodCall(m) => match part_method(m) {
                Some((name, _)) => {
                    let Some(base) = self.try_place(&m.receiver)? else { return Some(None) };
                    // a struct's methods are its own
                    if matches!(self.type_of_place(&base), Type::Struct(..)) {
                        return Some(None);
                    }
                    Some(self.method_part(base, &name, m)?)
                }
                None => None,
            },
            _ => None,
        };
        Some(place.map(|place| Place { span, ..place }))
    }

    fn variable(&self, p: &syn::ExprPath) -> Option<Place> {
        let ident = p.path.get_ident()?;
        self.lookup(&plain_name(ident)).map(Place::var)
    }

    /// A constant array, whose elements are read: a binding around the body stands for it. `Some(None)` for what is no
    /// path of a constant.
    pub(super) fn table(&mut self, e: &syn::Expr) -> Option<Option<Place>> {
        let syn::Expr::Path(p) = strip_references(e) else { return Some(None) };
        if self.variable(p).is_some() || names_function(p) {
            return Some(None);
        }
        let Expr { kind: ExprKind::Named(path), span } = self.path_expr(p)? else { return Some(None) };
        if self.is_pure {
            return self.error_help(
                Code::PureBody,
                e,
                format!("a pure function can't look into `{path}`, where an index may be out of range"),
                "read the number where the function is called, and pass it",
            );
        }
        let known = self.source.tables.iter().find(|(_, of)| **of == path).map(|(var, _)| *var);
        let var = match known {
            Some(var) => var,
            None => {
                let name = p.path.segments.last().map_or_else(String::new, |s| s.ident.to_string());
                let var = self.add_var(&name, Type::Unknown, VarKind::Binding, span);
                self.source.tables.insert(var, path);
                var
            }
        };
        Some(Some(Place { span, ..Place::var(var) }))
    }

    /// A body inside the bindings of the constant arrays that it reads.
    pub(super) fn with_tables(&self, body: Block) -> Block {
        self.source.tables.iter().rev().fold(body, |body, (var, path)| {
            let span = self.var(*var).span;
            let expr = Expr::new(ExprKind::Named(path.clone())).at(span);
            vec![Stmt::new(StmtKind::Let { var: *var, expr, body }).at(span)]
        })
    }

    fn field_step(&self, base: &Place, member: &syn::Member) -> Step {
        match member {
            syn::Member::Unnamed(k) => Step::Element(k.index),
            syn::Member::Named(name) => {
                let complex = matches!(self.type_of_place(base), Type::Complex(_));
                match plain_name(name).as_str() {
                    "re" if complex => Step::Re,
                    "im" if complex => Step::Im,
                    field => Step::Field(field.to_string()),
                }
            }
        }
    }

    /// `[i]`, `[[i, j]]`, `[(i, j)]` or `[a..b]`.
    fn indexed(&mut self, base: Place, index: &syn::Expr) -> Place {
        let indices: Vec<&syn::Expr> = match super::strip(index) {
            syn::Expr::Range(r) => {
                let axis = self.range_axis(&base, None, r);
                return within(base, vec![axis]);
            }
            syn::Expr::Array(a) => a.elems.iter().collect(),
            syn::Expr::Tuple(t) => t.elems.iter().collect(),
            i => vec![i],
        };
        let indices = indices.into_iter().map(|i| self.expr_or_unreadable(i)).collect();
        element(base, indices)
    }

    /// Whether a name stands for a parameter that is a reversible function.
    pub(super) fn is_function(&self, name: &str) -> bool {
        self.lookup(name).is_some_and(|v| {
            let var = self.var(v);
            matches!(var.kind, VarKind::Param(_)) && matches!(var.ty, Type::Function(_))
        })
    }
}

/// The variable at the root of what is spelled as a place.
fn unknown_root(e: &syn::Expr) -> Option<&syn::ExprPath> {
    match strip_references(e) {
        syn::Expr::Path(p) => p.path.get_ident().map(|_| p),
        syn::Expr::Field(f) => unknown_root(&f.base),
        syn::Expr::Index(i) => unknown_root(&i.expr),
        syn::Expr::MethodCall(m) if part_method(m).is_some() => unknown_root(&m.receiver),
        _ => None,
    }
}
