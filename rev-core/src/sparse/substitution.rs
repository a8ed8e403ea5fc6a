//! How the entries of a symmetric matrix follow from its products by an acyclic colouring.
//!
//! The entries between two colours form trees. At a vertex i of such a tree the product with the other colour
//! is the sum of the entries of all tree edges at i. A leaf shows its one entry; a vertex whose other edges are
//! known shows the one left. So edges are taken off from the leaves inwards, and the value of each edge is
//!
//! ```text
//! h(child, parent) = product(child) - sum of h(grandchild, child).
//! ```
//!
//! All leaves are taken off before what they uncover, so that the trees end in their middles: an entry is
//! reached by at most half as many differences as the longest path has edges, and a star by none.

use super::{Coloring, Pattern, PatternError};

/// Steps on the values that were read from the products, by position. Trees no deeper than a star need none.
#[derive(Clone, Debug, Default)]
pub(super) struct Substitution {
    /// The value at the first position, final by then, is taken from that at the second.
    differences: Vec<(usize, usize)>,
    /// Then the value at the first position is written to the second, across the diagonal.
    copies: Vec<(usize, usize)>,
}

impl Substitution {
    /// The steps for a colouring of the pattern, which must be symmetric.
    ///
    /// `sources` says for each position (i, j) where the product with the colour of j has row i. An edge is read
    /// in the row of its child only, so that (parent, child) gets the source of (child, parent).
    pub fn new(
        pattern: &Pattern,
        coloring: &Coloring,
        sources: &mut [usize],
    ) -> Result<Substitution, PatternError> {
        let mirrored = pattern.mirrored()?;
        let mut nodes = Nodes::new(pattern, coloring);
        let mut steps = Substitution::default();
        let mut changes = vec![false; pattern.nonzeros()];
        for at in nodes.take_off_leaves(&mirrored) {
            sources[mirrored[at]] = sources[at];
            let parent = nodes.node[mirrored[at]];
            if let Some(above) = nodes.above[parent] {
                steps.differences.push((at, above));
                if !std::mem::replace(&mut changes[above], true) {
                    steps.copies.push((above, mirrored[above]));
                }
            }
        }
        Ok(steps)
    }

    /// Makes the values read from the products those of the matrix.
    pub fn apply(&self, values: &mut [f64]) {
        self.differences.iter().for_each(|(from, to)| values[*to] -= values[*from]);
        self.copies.iter().for_each(|(from, to)| values[*to] = values[*from]);
    }
}

/// The nodes of all the trees: a vertex with one of the colours around it.
struct Nodes {
    /// For each position (i, j) off the diagonal the node of i and the colour of j.
    node: Vec<usize>,
    /// For each node how many of its edges are left.
    degree: Vec<usize>,
    /// For each node the exclusive or of the positions of the edges left: when one is left, its position.
    left: Vec<usize>,
    /// For each node the position of the edge to its parent; none at the middle of a tree.
    above: Vec<Option<usize>>,
}

impl Nodes {
    fn new(pattern: &Pattern, coloring: &Coloring) -> Nodes {
        let mut nodes =
            Nodes { node: vec![0; pattern.nonzeros()], degree: vec![], left: vec![], above: vec![] };
        // for each colour the vertex it was last met at, and their node
        let mut met = vec![(usize::MAX, 0); coloring.count()];
        for i in 0..pattern.rows() {
            for (at, j) in pattern.positions(i).filter(|(_, j)| *j != i) {
                let (last, node) = &mut met[coloring.colors()[j]];
                if *last != i {
                    (*last, *node) = (i, nodes.add());
                }
                nodes.node[at] = *node;
                nodes.degree[*node] += 1;
                nodes.left[*node] ^= at;
            }
        }
        nodes
    }

    fn add(&mut self) -> usize {
        self.degree.push(0);
        self.left.push(0);
        self.above.push(None);
        self.degree.len() - 1
    }

    /// Takes off leaf after leaf, first come, first served, and gives the positions (child, parent) of the edges.
    fn take_off_leaves(&mut self, mirrored: &[usize]) -> Vec<usize> {
        let mut leaves: Vec<usize> = (0..self.degree.len()).filter(|n| self.degree[*n] == 1).collect();
        let mut taken = Vec::with_capacity(mirrored.len() / 2);
        let mut served = 0;
        while let Some(child) = leaves.get(served).copied() {
            served += 1;
            // the other end of the last edge of a tree has none left
            if self.degree[child] == 1 {
                let at = self.left[child];
                let parent = self.node[mirrored[at]];
                self.above[child] = Some(at);
                self.degree[child] = 0;
                self.degree[parent] -= 1;
                self.left[parent] ^= mirrored[at];
                taken.push(at);
                if self.degree[parent] == 1 {
                    leaves.push(parent);
                }
            }
        }
        taken
    }
}
