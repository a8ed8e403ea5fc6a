//! The graphs whose vertices are coloured.

use crate::sparse::{Pattern, PatternError};

/// What an order of the vertices needs of a graph.
pub(super) trait Graph {
    /// The number of vertices.
    fn vertices(&self) -> usize;

    /// The neighbours of a vertex. They may repeat, and the vertex may be among them.
    fn neighbors(&self, vertex: usize) -> impl Iterator<Item = usize>;
}

/// The graph of the columns of a matrix, which are neighbours when they have a row in common: the column
/// intersection graph, or the vertices at distance two in the bipartite graph of columns and rows.
///
/// It isn't stored, for it has up to the square of a row's nonzeros in edges for each row.
pub(super) struct Intersection<'a> {
    /// For each row the columns.
    pub by_rows: &'a Pattern,
    /// For each column the rows.
    pub by_columns: &'a Pattern,
}

impl Graph for Intersection<'_> {
    fn vertices(&self) -> usize {
        self.by_columns.rows()
    }

    fn neighbors(&self, vertex: usize) -> impl Iterator<Item = usize> {
        self.by_columns.row(vertex).iter().flat_map(|row| self.by_rows.row(*row).iter().copied())
    }
}

/// The adjacency graph of a symmetric matrix: i and j are neighbours when (i, j) is a nonzero off the diagonal.
pub(super) struct Adjacency<'a> {
    pattern: &'a Pattern,
    /// The edge of each position off the diagonal; (i, j) and (j, i) are one edge.
    edges: Vec<usize>,
    edge_count: usize,
}

impl<'a> Adjacency<'a> {
    /// The graph of the pattern, which must be symmetric.
    pub fn of(pattern: &'a Pattern) -> Result<Adjacency<'a>, PatternError> {
        let mut edges = pattern.mirrored()?;
        let mut edge_count = 0;
        for (position, (i, j)) in pattern.iter().enumerate() {
            let mirror = edges[position];
            // the lower triangle is reached later, and reads a number that the upper one left in it
            if i < j {
                edges[mirror] = edge_count;
                edges[position] = edge_count;
                edge_count += 1;
            }
        }
        Ok(Adjacency { pattern, edges, edge_count })
    }

    /// The number of edges.
    pub fn edge_count(&self) -> usize {
        self.edge_count
    }

    /// The neighbours of a vertex, each with the edge that leads to it.
    pub fn links(&self, vertex: usize) -> impl Iterator<Item = (usize, usize)> + '_ {
        let off_diagonal = move |(position, j)| (j != vertex).then(|| (j, self.edges[position]));
        self.pattern.positions(vertex).filter_map(off_diagonal)
    }
}

impl Graph for Adjacency<'_> {
    fn vertices(&self) -> usize {
        self.pattern.rows()
    }

    fn neighbors(&self, vertex: usize) -> impl Iterator<Item = usize> {
        self.pattern.row(vertex).iter().copied()
    }
}
