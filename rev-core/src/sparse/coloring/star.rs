//! Star colourings: neighbours differ, and each path on four vertices has at least three colours.
//!
//! So the edges between any two colours form stars: a *hub* with all the others around it. A leaf has one
//! neighbour of the hub's colour, and that makes the entry readable. The greedy algorithm keeps the stars
//! (Gebremedhin, Tarafdar, Manne and Pothen 2007); its time is the number of paths on three
//! vertices.

use super::graph::{Adjacency, Graph};
use super::order::{vertex_order, Order};
use super::{Coloring, Greedy, NONE};
use crate::sparse::{Pattern, PatternError};

/// Colours the adjacency graph of a symmetric pattern so that neighbours differ, and each path on four vertices
/// has at least three colours. The diagonal is of no account.
pub fn color_star(pattern: &Pattern, order: Order) -> Result<Coloring, PatternError> {
    let graph = Adjacency::of(pattern)?;
    let mut stars = Stars::new(&graph);
    for v in vertex_order(&graph, order) {
        stars.forbid(v);
        stars.greedy.give_smallest(v);
        stars.add_edges(v);
    }
    Ok(stars.greedy.finish())
}

/// The two-coloured stars of the vertices coloured so far.
struct Stars<'a> {
    graph: &'a Adjacency<'a>,
    greedy: Greedy,
    /// The star of each edge between coloured vertices, named by the first of its edges.
    star: Vec<usize>,
    /// The hub of each star, or `NONE` when it is a single edge.
    hub: Vec<usize>,
    /// For each colour the vertex last coloured next to it, and the link to the first neighbour met with it.
    first: Vec<(usize, (usize, usize))>,
    /// For each vertex the last one that all colours around it were forbidden for.
    avoided_by: Vec<usize>,
}

impl<'a> Stars<'a> {
    fn new(graph: &'a Adjacency<'a>) -> Stars<'a> {
        let (vertices, edges) = (graph.vertices(), graph.edge_count());
        Stars {
            graph,
            greedy: Greedy::new(vertices),
            star: vec![NONE; edges],
            hub: vec![NONE; edges],
            first: vec![(NONE, (NONE, NONE)); vertices],
            avoided_by: vec![NONE; vertices],
        }
    }

    /// Forbids `v` the colours of its neighbours, and those that would make a two-coloured path of four.
    fn forbid(&mut self, v: usize) {
        let graph = self.graph;
        for (w, edge) in graph.links(v) {
            if self.greedy.is_colored(w) {
                self.greedy.forbid_color_of(w, v);
                self.forbid_beyond(w, edge, v);
            }
        }
    }

    /// Forbids `v` what would make a two-coloured path of four through its neighbour `w`.
    fn forbid_beyond(&mut self, w: usize, edge: usize, v: usize) {
        let first = &mut self.first[self.greedy.color(w)];
        if first.0 == v {
            // two neighbours of one colour: v is between them, and so may not be the end of such a path as well
            let (q, _) = first.1;
            self.avoid_around(q, v);
            self.avoid_around(w, v);
        } else {
            *first = (v, (w, edge));
            self.avoid_hubs(w, v);
        }
    }

    /// Forbids `v` the colours around its neighbour `w`.
    fn avoid_around(&mut self, w: usize, v: usize) {
        if self.avoided_by[w] != v {
            self.avoided_by[w] = v;
            for (x, _) in self.graph.links(w) {
                if self.greedy.is_colored(x) {
                    self.greedy.forbid_color_of(x, v);
                }
            }
        }
    }

    /// Forbids `v` the colours of the hubs that its neighbour `w` is a leaf of.
    fn avoid_hubs(&mut self, w: usize, v: usize) {
        for (x, edge) in self.graph.links(w) {
            if self.greedy.is_colored(x) && self.hub[self.star[edge]] == x {
                self.greedy.forbid_color_of(x, v);
            }
        }
    }

    /// Gives each edge from `v`, now coloured, to a coloured vertex its star.
    fn add_edges(&mut self, v: usize) {
        let graph = self.graph;
        for (w, edge) in graph.links(v) {
            if self.greedy.is_colored(w) {
                let (star, hub) = self.star_of(v, w, edge);
                self.star[edge] = star;
                self.hub[star] = hub;
            }
        }
    }

    /// The star of the new edge from `v` to `w`, and its hub.
    fn star_of(&self, v: usize, w: usize, edge: usize) -> (usize, usize) {
        let is_like_v = |x: usize| x != v && self.greedy.color(x) == self.greedy.color(v);
        let (_, (first, first_edge)) = self.first[self.greedy.color(w)];
        match self.graph.links(w).find(|(x, _)| is_like_v(*x)) {
            Some((_, beyond)) => (self.star[beyond], w),
            None if first != w => (self.star[first_edge], v),
            None => (edge, NONE),
        }
    }
}
