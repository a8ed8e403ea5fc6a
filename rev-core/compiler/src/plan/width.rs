//! How many lanes a loop runs in.
//!
//! What all lanes of a group do alike is paid once for the group: the check, the address and the broadcast
//! of an element that they all read, the sum over the lanes that is added to one. Where a loop inside the
//! body does that in every trip, groups are as wide as packs are. What each lane has for itself is paid for
//! each lane, and has to stay in registers meanwhile: a body with nothing else runs in half as many lanes,
//! whose values take half as many registers.

use crate::ir::{Access, ArgValue, Block, ExprKind, Function, Place, Stmt, StmtKind};

use super::lanes::is_whole_array;
use super::Varying;

/// A number of lanes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Width {
    /// As many as packs have.
    Wide,
    /// Half as many.
    Narrow,
}

/// The number of lanes for the body of a loop.
pub fn width(function: &Function, varying: &Varying, body: &Block) -> Width {
    match body.iter().any(|s| shares(function, varying, s, false)) {
        true => Width::Wide,
        false => Width::Narrow,
    }
}

/// Whether a loop in a statement, or `inside` of which the statement is, uses elements that are the same
/// for all lanes in each trip. A function that gets a whole array is taken to have such a loop.
fn shares(function: &Function, varying: &Varying, stmt: &Stmt, inside: bool) -> bool {
    let mut found = false;
    if inside {
        stmt.each_access(&mut |q: &Place, _: Access| found |= is_common_element(varying, q));
    }
    if let StmtKind::Call { args, .. } = &stmt.kind {
        found |= args.iter().any(|arg| match &arg.value {
            ArgValue::Place(q) => is_common_array(function, varying, q),
            ArgValue::Expr(e) => {
                matches!(&e.kind, ExprKind::Read(q) if is_common_array(function, varying, q))
            }
        });
    }
    let inside = inside || matches!(stmt.kind, StmtKind::For { .. } | StmtKind::While { .. });
    found || stmt.blocks().into_iter().flatten().any(|s| shares(function, varying, s, inside))
}

/// Whether a place is an element of an array from outside, the same for all lanes.
fn is_common_element(varying: &Varying, q: &Place) -> bool {
    !varying.own.contains(&q.var) && !varying.place(q) && q.indices().next().is_some()
}

/// Whether a place is an array from outside, or a part of one that is the same for all lanes.
fn is_common_array(function: &Function, varying: &Varying, q: &Place) -> bool {
    !varying.own.contains(&q.var) && !varying.place(q) && is_whole_array(function, q)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::parse_function;

    /// The lanes of the first parallel loop.
    fn of(text: &str) -> Width {
        let function = parse_function(text).unwrap();
        let StmtKind::For { var, body, .. } = &function.body[0].kind else { panic!("{text}") };
        width(&function, &Varying::of_loop(*var, body), body)
    }

    #[test]
    fn loops_over_what_all_lanes_share_are_wide() {
        let wide = [
            "fn f(y: &mut [f64], w: [f64]) { par for i in 0..len(y) { for k in 0..len(w) { y[i] += w[k] } } }",
            "fn f(w: &mut [f64], y: [f64]) { par for i in 0..len(y) { for k in 0..len(w) { w[k] += y[i] } } }",
            "fn f(y: &mut [f64], w: [f64]) { par for i in 0..len(y) { call g(&mut y[i], w) } }",
        ];
        for text in wide {
            assert_eq!(of(text), Width::Wide, "{text}");
        }
    }

    #[test]
    fn what_is_each_lane_s_own_is_narrow() {
        let narrow = [
            "fn f(y: &mut [f64], x: [f64]) { par for i in 0..len(y) { y[i] += exp(x[i]) } }",
            "fn f(l: &mut f64, x: [f64]) { par for i in 0..len(x) { l += x[i] } }",
            "fn f(y: &mut [f64], x: [f64], w: [f64]) { par for i in 0..len(y) { y[i] += x[i] * w[3] } }",
            "fn f(y: &mut [f64], x: [f64]) { par for i in 0..len(y) { for k in 0..9 { y[i] += x[i + k] } } }",
            "fn f(y: &mut [f64], x: [f64]) { par for i in 0..len(y) { call g(&mut y[i], x[i]) } }",
        ];
        for text in narrow {
            assert_eq!(of(text), Width::Narrow, "{text}");
        }
    }
}
