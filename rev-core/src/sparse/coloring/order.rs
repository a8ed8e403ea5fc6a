//! In which order a greedy colouring takes the vertices (Gebremedhin, Manne and Pothen 2005).
//!
//! The time is that of meeting the neighbours of every vertex once or twice: vertices wait in lists by degree,
//! and a degree changes by one at a time.

use std::cmp::Reverse;

use super::graph::Graph;
use super::NONE;

/// The order in which a greedy colouring takes the vertices.
///
/// A degree is the number of neighbours: of columns with a common row for [`super::color_columns`], of nonzeros
/// off the diagonal for the colourings of symmetric matrices.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Order {
    /// By number.
    #[default]
    Natural,
    /// By degree, the largest first, and then by number.
    LargestFirst,
    /// The last one has the smallest degree, the one before it the smallest without the last, and so on. So a
    /// vertex has few neighbours before it, and few colours to avoid.
    SmallestLast,
    /// Next comes always the vertex with the most neighbours before it.
    IncidenceDegree,
}

/// All vertices of the graph in that order.
pub(super) fn vertex_order(graph: &impl Graph, order: Order) -> Vec<usize> {
    match order {
        Order::Natural => (0..graph.vertices()).collect(),
        Order::LargestFirst => largest_first(&mut Neighborhoods::of(graph)),
        Order::SmallestLast => smallest_last(&mut Neighborhoods::of(graph)),
        Order::IncidenceDegree => incidence_degree(&mut Neighborhoods::of(graph)),
    }
}

fn largest_first<G: Graph>(neighborhoods: &mut Neighborhoods<G>) -> Vec<usize> {
    let degrees = neighborhoods.degrees();
    let mut order: Vec<usize> = (0..degrees.len()).collect();
    order.sort_by_key(|v| Reverse(degrees[*v]));
    order
}

fn smallest_last<G: Graph>(neighborhoods: &mut Neighborhoods<G>) -> Vec<usize> {
    let mut queue = BucketQueue::new(neighborhoods.degrees());
    let mut order = Vec::with_capacity(neighborhoods.graph.vertices());
    while let Some(v) = queue.take_least() {
        order.push(v);
        neighborhoods.each(v, |w| queue.lower(w));
    }
    order.reverse();
    order
}

fn incidence_degree<G: Graph>(neighborhoods: &mut Neighborhoods<G>) -> Vec<usize> {
    let mut queue = BucketQueue::new(vec![0; neighborhoods.graph.vertices()]);
    let mut order = Vec::with_capacity(neighborhoods.graph.vertices());
    while let Some(v) = queue.take_greatest() {
        order.push(v);
        neighborhoods.each(v, |w| queue.raise(w));
    }
    order
}

/// The neighbours of the vertices of a graph without repeats.
struct Neighborhoods<'a, G> {
    graph: &'a G,
    /// In which walk each vertex was last met.
    met: Vec<usize>,
    walk: usize,
}

impl<'a, G: Graph> Neighborhoods<'a, G> {
    fn of(graph: &'a G) -> Neighborhoods<'a, G> {
        Neighborhoods { graph, met: vec![0; graph.vertices()], walk: 0 }
    }

    fn each(&mut self, vertex: usize, mut f: impl FnMut(usize)) {
        self.walk += 1;
        self.met[vertex] = self.walk;
        for w in self.graph.neighbors(vertex) {
            if self.met[w] != self.walk {
                self.met[w] = self.walk;
                f(w);
            }
        }
    }

    fn degrees(&mut self) -> Vec<usize> {
        let mut degrees = vec![0; self.graph.vertices()];
        for (v, degree) in degrees.iter_mut().enumerate() {
            self.each(v, |_| *degree += 1);
        }
        degrees
    }
}

/// Vertices in doubly linked lists by key, in which the last to come is the first to go.
///
/// Taking one looks for its list from where the last one was, and a key that changes moves that place by one,
/// so that it costs a constant on average.
struct BucketQueue {
    /// The key of each vertex, or `NONE` when it has been taken.
    keys: Vec<usize>,
    /// For each key the first vertex, or `NONE`.
    heads: Vec<usize>,
    next: Vec<usize>,
    previous: Vec<usize>,
    /// No key is less.
    least: usize,
    /// No key is greater.
    greatest: usize,
}

impl BucketQueue {
    fn new(keys: Vec<usize>) -> BucketQueue {
        let count = keys.len();
        let greatest = keys.iter().copied().max().unwrap_or(0);
        let (heads, next, previous) = (vec![NONE; greatest + 1], vec![NONE; count], vec![NONE; count]);
        let mut queue = BucketQueue { keys, heads, next, previous, least: 0, greatest };
        (0..count).for_each(|v| queue.link(v, queue.keys[v]));
        queue
    }

    fn take_least(&mut self) -> Option<usize> {
        self.least += self.heads.get(self.least..)?.iter().position(|head| *head != NONE)?;
        self.take_first(self.least)
    }

    fn take_greatest(&mut self) -> Option<usize> {
        self.greatest = self.heads.get(..=self.greatest)?.iter().rposition(|head| *head != NONE)?;
        self.take_first(self.greatest)
    }

    fn take_first(&mut self, key: usize) -> Option<usize> {
        let vertex = self.heads[key];
        self.unlink(vertex);
        self.keys[vertex] = NONE;
        Some(vertex)
    }

    /// Takes one from the key, if the vertex is still there.
    fn lower(&mut self, vertex: usize) {
        if self.keys[vertex] != NONE {
            let key = self.unlink(vertex) - 1;
            self.link(vertex, key);
            self.least = self.least.min(key);
        }
    }

    /// Adds one to the key, if the vertex is still there.
    fn raise(&mut self, vertex: usize) {
        if self.keys[vertex] != NONE {
            let key = self.unlink(vertex) + 1;
            if key == self.heads.len() {
                self.heads.push(NONE);
            }
            self.link(vertex, key);
            self.greatest = self.greatest.max(key);
        }
    }

    /// Puts the vertex at the front of the list of the key.
    fn link(&mut self, vertex: usize, key: usize) {
        let second = std::mem::replace(&mut self.heads[key], vertex);
        self.keys[vertex] = key;
        self.previous[vertex] = NONE;
        self.next[vertex] = second;
        if second != NONE {
            self.previous[second] = vertex;
        }
    }

    /// Takes the vertex out of its list, and gives its key.
    fn unlink(&mut self, vertex: usize) -> usize {
        let (key, previous, next) = (self.keys[vertex], self.previous[vertex], self.next[vertex]);
        match previous {
            NONE => self.heads[key] = next,
            _ => self.next[previous] = next,
        }
        if next != NONE {
            self.previous[next] = previous;
        }
        key
    }
}

#[cfg(test)]
mod tests {
    use super::super::graph::{Adjacency, Intersection};
    use super::*;
    use crate::sparse::tests::oracle::{Random, ORDERS};

    /// Checks each order against its definition, on the graph as a dense matrix.
    fn check(graph: &impl Graph) {
        let n = graph.vertices();
        let mut adjacent = vec![vec![false; n]; n];
        (0..n).for_each(|v| graph.neighbors(v).for_each(|w| adjacent[v][w] = v != w));
        let degree = |v: usize, among: &[usize]| among.iter().filter(|w| adjacent[v][**w]).count();
        let orders = ORDERS.map(|order| vertex_order(graph, order));
        let [natural, largest, smallest, incidence] = &orders;
        for order in &orders {
            let mut sorted = order.clone();
            sorted.sort_unstable();
            assert_eq!(&sorted, natural);
        }
        assert!(largest.is_sorted_by_key(|v| (Reverse(degree(*v, natural)), *v)));
        for k in 0..n {
            let left = &smallest[..=k];
            assert!(left.iter().all(|w| degree(smallest[k], left) <= degree(*w, left)));
            let (before, left) = incidence.split_at(k);
            assert!(left.iter().all(|w| degree(left[0], before) >= degree(*w, before)));
        }
    }

    #[test]
    fn orders_are_what_they_say() {
        let mut random = Random(9);
        for _ in 0..200 {
            let (rows, columns, percent) = (random.below(20), random.below(20), random.below(60));
            let pattern = random.pattern(rows, columns, percent);
            check(&Intersection { by_rows: &pattern, by_columns: &pattern.transposed() });
            check(&Adjacency::of(&random.symmetric(rows, percent)).unwrap());
        }
    }
}
