//! Rows: an element of a small array within an array, taken as a part of the whole that sharing reads once.
//!
//! `x[i][0]` and `x[i][2]` are two elements of the array that is `x[i]`. Each costs what finding and, in lanes, reading all of
//! that array costs. So they stand apart for the search of what is read more than once: `x[i]` as an expression, and an element
//! of it.

use crate::ir::{Expr, ExprKind, Function, Length, Number, Place, Step, Stmt, Type};

/// The most numbers that are read together.
const LARGEST: u64 = 16;

/// Writes elements of rows that don't change as elements of the row as an expression.
pub(super) fn apart(function: &Function, block: &mut [Stmt]) {
    each_expr(block, &mut |e| {
        if let Some((row, elements)) = row(function, e) {
            *e = elements
                .into_iter()
                .fold(row, |whole, k| Expr::new(ExprKind::Element(Box::new(whole), k)).at(e.span));
        }
    });
}

/// Writes elements of arrays that are expressions as elements of the places that these read.
pub(super) fn together(function: &Function, block: &mut [Stmt]) {
    each_expr(block, &mut |e| {
        let ExprKind::Element(whole, k) = &e.kind else { return };
        let ExprKind::Read(place) = &whole.kind else { return };
        if function.type_at(place).is_some_and(|ty| ty.is_fixed()) {
            let index = Expr::int(i128::from(*k));
            e.kind = ExprKind::Read(place.clone().with(Step::Index(vec![index])));
        }
    });
}

/// Whether values of a type are read as a whole: numbers in arrays of few elements.
pub(super) fn is_row(ty: &Type) -> bool {
    matches!(ty, Type::Fixed(..)) && numbers(ty).is_some_and(|n| n <= LARGEST)
}

/// How many numbers there are in arrays of fixed size.
fn numbers(ty: &Type) -> Option<u64> {
    match ty {
        Type::Fixed(of, Length::Literal(n)) => n.checked_mul(numbers(of)?),
        _ => ty.is_scalar().then_some(1),
    }
}

/// The row that an expression reads an element of, and which.
fn row(function: &Function, e: &Expr) -> Option<(Expr, Vec<u32>)> {
    let ExprKind::Read(place) = &e.kind else { return None };
    let var = function.var(place.var);
    if !var.kind.never_changes() || var.ty.is_inactive(&function.generics) {
        return None;
    }
    let known: Vec<u32> = place.path.iter().rev().map_while(element).collect();
    if known.is_empty() {
        return None;
    }
    let whole = Place { path: place.path[..place.path.len() - known.len()].to_vec(), ..place.clone() };
    let within = whole.path.iter().any(|step| matches!(step, Step::Index(_)));
    let ty = function.type_at(&whole).filter(|ty| within && is_row(ty))?;
    let elements: Vec<u32> = known.into_iter().rev().collect();
    // an index out of range fails where it stands
    elements.iter().try_fold(ty, |ty, k| {
        let there = ty.literal_length().is_some_and(|n| u64::from(*k) < n);
        ty.part(&Step::Index(Vec::new())).filter(|_| there)
    })?;
    Some((Expr::new(ExprKind::Read(whole)).at(e.span), elements))
}

/// The element that a step takes, if it is known.
fn element(step: &Step) -> Option<u32> {
    let Step::Index(index) = step else { return None };
    let [Expr { kind: ExprKind::Literal(Number::Int(k), None), .. }] = &index[..] else { return None };
    u32::try_from(*k).ok()
}

/// Calls `f` on each expression of a block, the parts of one before it.
fn each_expr(block: &mut [Stmt], f: &mut dyn FnMut(&mut Expr)) {
    fn expr(e: &mut Expr, f: &mut dyn FnMut(&mut Expr)) {
        e.each_child_mut(&mut |part| expr(part, f));
        f(e);
    }
    for stmt in block {
        stmt.each_expr_mut(&mut |e| expr(e, f));
        stmt.blocks_mut().into_iter().for_each(|inner| each_expr(inner, f));
    }
}
