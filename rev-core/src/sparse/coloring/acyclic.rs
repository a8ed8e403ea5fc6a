//! Acyclic colourings: neighbours differ, and each cycle has at least three colours.
//!
//! So the edges between any two colours form trees, along which entries can be had one after the other.
//! The greedy algorithm keeps the trees as disjoint sets of edges (Gebremedhin, Tarafdar, Manne and Pothen
//! 2007); its time is the number of paths on three vertices, but for the search in the sets.

use super::graph::{Adjacency, Graph};
use super::order::{vertex_order, Order};
use super::{Coloring, Greedy, NONE};
use crate::sparse::{Pattern, PatternError};

/// Colours the adjacency graph of a symmetric pattern so that neighbours differ, and each cycle has at least
/// three colours. The diagonal is of no account.
pub fn color_acyclic(pattern: &Pattern, order: Order) -> Result<Coloring, PatternError> {
    let graph = Adjacency::of(pattern)?;
    let mut trees = Trees::new(&graph);
    for v in vertex_order(&graph, order) {
        trees.forbid(v);
        trees.greedy.give_smallest(v);
        trees.add_edges(v);
    }
    Ok(trees.greedy.finish())
}

/// The two-coloured trees of the vertices coloured so far.
struct Trees<'a> {
    graph: &'a Adjacency<'a>,
    greedy: Greedy,
    trees: DisjointSets,
    /// For each tree, at the edge that represents it: the vertex that last met it, and through which neighbour.
    first_visit: Vec<(usize, usize)>,
    /// For each colour the vertex last coloured next to it, and the edge to the first neighbour met with it.
    first: Vec<(usize, usize)>,
}

impl<'a> Trees<'a> {
    fn new(graph: &'a Adjacency<'a>) -> Trees<'a> {
        let (vertices, edges) = (graph.vertices(), graph.edge_count());
        Trees {
            graph,
            greedy: Greedy::new(vertices),
            trees: DisjointSets::new(edges),
            first_visit: vec![(NONE, NONE); edges],
            first: vec![(NONE, NONE); vertices],
        }
    }

    /// Forbids `v` the colours of its neighbours, and those that would close a two-coloured cycle: those of
    /// trees that `v` would be connected to twice.
    fn forbid(&mut self, v: usize) {
        let graph = self.graph;
        for (w, _) in graph.links(v) {
            if self.greedy.is_colored(w) {
                self.greedy.forbid_color_of(w, v);
            }
        }
        for (w, _) in graph.links(v) {
            if self.greedy.is_colored(w) {
                graph.links(w).for_each(|(x, edge)| self.visit(v, w, x, edge));
            }
        }
    }

    /// Meets from `v` through its neighbour `w` the tree of the edge between `w` and `x`.
    fn visit(&mut self, v: usize, w: usize, x: usize, edge: usize) {
        if self.greedy.is_colored(x) && !self.greedy.is_color_forbidden(x, v) {
            let tree = self.trees.find(edge);
            match self.first_visit[tree] {
                (last, through) if last == v && through != w => self.greedy.forbid_color_of(x, v),
                _ => self.first_visit[tree] = (v, w),
            }
        }
    }

    /// Puts each edge from `v`, now coloured, to a coloured vertex into its tree, and joins those that `v` is
    /// between.
    fn add_edges(&mut self, v: usize) {
        let graph = self.graph;
        for (w, edge) in graph.links(v) {
            if self.greedy.is_colored(w) {
                self.join_around(v, w, edge);
                let same = |x: usize| x != v && self.greedy.color(x) == self.greedy.color(v);
                for (_, beyond) in graph.links(w).filter(|(x, _)| same(*x)) {
                    self.trees.join(edge, beyond);
                }
            }
        }
    }

    /// Joins the edge from `v` to `w` to that from `v` to the first neighbour with the colour of `w`.
    fn join_around(&mut self, v: usize, w: usize, edge: usize) {
        let first = &mut self.first[self.greedy.color(w)];
        if first.0 == v {
            self.trees.join(edge, first.1);
        } else {
            *first = (v, edge);
        }
    }
}

/// A partition of the numbers from zero, each set represented by one of its members.
struct DisjointSets {
    /// A member nearer to the representative, which is its own.
    parents: Vec<usize>,
}

impl DisjointSets {
    /// Each number by itself.
    fn new(count: usize) -> DisjointSets {
        DisjointSets { parents: (0..count).collect() }
    }

    /// The representative; halves the way there.
    fn find(&mut self, mut member: usize) -> usize {
        while self.parents[member] != member {
            self.parents[member] = self.parents[self.parents[member]];
            member = self.parents[member];
        }
        member
    }

    fn join(&mut self, a: usize, b: usize) {
        let (a, b) = (self.find(a), self.find(b));
        self.parents[a] = b;
    }
}
