//! Columns without a common row: the partial distance-2 colouring of the bipartite graph of a matrix
//! (Gebremedhin, Manne and Pothen 2005).
//!
//! A row with r nonzeros needs r colours, and is walked through r times: the time is the sum of r² over the
//! rows, the memory linear in rows and columns.

use super::graph::{Graph, Intersection};
use super::order::{vertex_order, Order};
use super::{Coloring, Greedy};
use crate::sparse::Pattern;

/// Colours the columns so that two with a row in common differ.
///
/// There are at least as many colours as nonzeros in any one row. The time is the sum over the rows of the
/// squares of their nonzeros; a matrix with a few full rows is better coloured by rows.
pub fn color_columns(pattern: &Pattern, order: Order) -> Coloring {
    color(&Intersection { by_rows: pattern, by_columns: &pattern.transposed() }, order)
}

/// Colours the rows so that two with a column in common differ: [`color_columns`] of the transposed pattern.
pub fn color_rows(pattern: &Pattern, order: Order) -> Coloring {
    color(&Intersection { by_rows: &pattern.transposed(), by_columns: pattern }, order)
}

fn color(graph: &Intersection, order: Order) -> Coloring {
    let mut greedy = Greedy::new(graph.vertices());
    for v in vertex_order(graph, order) {
        for w in graph.neighbors(v) {
            if greedy.is_colored(w) {
                greedy.forbid_color_of(w, v);
            }
        }
        greedy.give_smallest(v);
    }
    greedy.finish()
}
