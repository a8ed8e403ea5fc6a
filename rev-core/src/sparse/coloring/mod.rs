//! Greedy colourings: each vertex in turn gets the smallest colour that its neighbourhood allows.
//!
//! What the neighbourhood forbids is the whole difference between the three kinds, one file each.

mod acyclic;
mod bipartite;
mod graph;
mod order;
mod star;

pub use acyclic::color_acyclic;
pub use bipartite::{color_columns, color_rows};
pub use order::Order;
pub use star::color_star;

/// Stands for no vertex, no colour, no edge.
const NONE: usize = usize::MAX;

/// Colours of the vertices of a graph, which here are the columns or the rows of a matrix.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Coloring {
    colors: Vec<usize>,
    count: usize,
}

impl Coloring {
    /// The colour of each vertex, from zero up to the count.
    pub fn colors(&self) -> &[usize] {
        &self.colors
    }

    /// The number of colours, all of which occur.
    pub fn count(&self) -> usize {
        self.count
    }
}

/// A colouring in the making: the colours so far, and those forbidden for the vertex whose turn it is.
struct Greedy {
    /// The colour of each vertex, or `NONE`.
    colors: Vec<usize>,
    /// For each colour so far, the vertex that it was last forbidden for. A vertex has its turn once, so that
    /// nothing needs to be cleared between turns.
    forbidden_for: Vec<usize>,
}

impl Greedy {
    fn new(vertices: usize) -> Greedy {
        Greedy { colors: vec![NONE; vertices], forbidden_for: Vec::new() }
    }

    fn color(&self, vertex: usize) -> usize {
        self.colors[vertex]
    }

    fn is_colored(&self, vertex: usize) -> bool {
        self.colors[vertex] != NONE
    }

    /// Forbids the colour of a coloured vertex to `vertex`.
    fn forbid_color_of(&mut self, colored: usize, vertex: usize) {
        self.forbidden_for[self.colors[colored]] = vertex;
    }

    fn is_color_forbidden(&self, colored: usize, vertex: usize) -> bool {
        self.forbidden_for[self.colors[colored]] == vertex
    }

    /// Gives the vertex the smallest colour not forbidden, a new one if need be.
    fn give_smallest(&mut self, vertex: usize) {
        let color = self.forbidden_for.iter().position(|v| *v != vertex).unwrap_or(self.forbidden_for.len());
        if color == self.forbidden_for.len() {
            self.forbidden_for.push(NONE);
        }
        self.colors[vertex] = color;
    }

    fn finish(self) -> Coloring {
        Coloring { colors: self.colors, count: self.forbidden_for.len() }
    }
}
