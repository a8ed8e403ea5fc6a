//! Lowering of whole functions, looked at as IR.

use rev_core::diag::{Code, Diagnostics};
use rev_core::ir::{Function, StmtKind, VarKind};

use super::lower_function;
use crate::model::Model;

fn lower(source: &str) -> (Model, Diagnostics) {
    let item: syn::ItemFn = syn::parse_str(source).unwrap();
    let mut attribute = proc_macro2::TokenStream::new();
    if let Some(a) = item.attrs.iter().find(|a| a.path().is_ident("reversible")) {
        if let syn::Meta::List(list) = &a.meta {
            attribute = list.tokens.clone();
        }
    }
    lower_function(attribute, item)
}

fn good(source: &str) -> Function {
    let (model, diagnostics) = lower(source);
    assert!(diagnostics.is_empty(), "{}", diagnostics.render("source", source));
    model.function
}

fn codes(source: &str) -> Vec<Code> {
    let (_, mut diagnostics) = lower(source);
    diagnostics.sort();
    diagnostics.iter().map(|d| d.code).collect()
}

#[test]
fn a_function_of_the_design() {
    let f = good(
        "fn fit<T: Real>(loss: &mut T, w: &[T], x: ArrayView2<T>, y: &[T]) {
            for i in par(0..y.len()) {
                let mut p = T::zero();
                for j in 0..w.len() {
                    p += x[[i, j]] * w[j];
                }
                let r = p - y[i];
                *loss += r * r / (T::one() + r.abs());
            }
        }",
    );
    assert_eq!(f.params.len(), 4);
    let [stmt] = f.body.as_slice() else { panic!("one statement") };
    let StmtKind::For { parallel: Some(_), body, .. } = &stmt.kind else { panic!("a parallel loop") };
    let StmtKind::Ancilla { body, .. } = &body[0].kind else { panic!("an ancilla") };
    assert_eq!(body.len(), 2);
    assert!(matches!(body[1].kind, StmtKind::Let { .. }));
}

#[test]
fn names_are_unique() {
    let f = good("fn f(y: &mut f64, x: f64) { let x = x * 2.0; let x = x + 1.0; *y += x; for i in 0..3 { *y += x; } for i in 0..2 { *y -= x; } }");
    let mut names: Vec<_> = f.vars.iter().map(|v| v.name.as_str()).collect();
    assert_eq!(names, ["y", "x", "x2", "x3", "i", "i2"]);
    names.dedup();
    assert_eq!(f.vars.iter().filter(|v| v.kind == VarKind::Index).count(), 2);
}

#[test]
fn every_error_is_found_at_once() {
    let found = codes(
        "fn f(y: &mut f64, x: &[f64]) {
            y = 1.0;
            let mut a = 0.0;
            for i in 0..3 { if x[0] > 0.0 { break; } }
            let a = 2.0;
            while *y > 0.0 { *y -= 1.0; }
            println!(\"no\");
            z += 1.0;
            match y { _ => {} }
            return;
        }",
    );
    use Code::*;
    let expected =
        [Assignment, Break, ShadowedAncilla, MissingPostcondition, Macro, UnknownName, Match, Return];
    assert_eq!(found, expected);
}
