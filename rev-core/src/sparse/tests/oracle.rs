//! What the tests compare with: definitions tried on dense matrices, and exhaustive search.

use crate::sparse::{Order, Pattern};

pub const ORDERS: [Order; 4] =
    [Order::Natural, Order::LargestFirst, Order::SmallestLast, Order::IncidenceDegree];

/// A small generator of numbers (Marsaglia's xorshift).
pub struct Random(pub u64);

impl Random {
    pub fn below(&mut self, bound: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as usize % bound
    }

    /// Entries with about `percent` of the places; some rows and columns have none.
    pub fn entries(&mut self, rows: usize, columns: usize, percent: usize) -> Vec<(usize, usize)> {
        let without_row: Vec<bool> = (0..rows).map(|_| self.below(6) == 0).collect();
        let without_column: Vec<bool> = (0..columns).map(|_| self.below(6) == 0).collect();
        let places = (0..rows).flat_map(|i| (0..columns).map(move |j| (i, j)));
        places.filter(|(i, j)| self.below(100) < percent && !without_row[*i] && !without_column[*j]).collect()
    }

    pub fn pattern(&mut self, rows: usize, columns: usize, percent: usize) -> Pattern {
        Pattern::new(rows, columns, self.entries(rows, columns, percent)).unwrap()
    }

    /// A symmetric pattern, with a diagonal that is full, empty or random.
    pub fn symmetric(&mut self, n: usize, percent: usize) -> Pattern {
        let mut entries = self.entries(n, n, percent);
        match self.below(3) {
            0 => entries.retain(|(i, j)| i != j),
            1 => entries.extend((0..n).map(|i| (i, i))),
            _ => {}
        }
        symmetric(n, entries)
    }

    /// A dense matrix with integers from -9 to 9 at the places of the pattern, zeros among them.
    pub fn dense(&mut self, pattern: &Pattern) -> Vec<Vec<f64>> {
        let mut dense = vec![vec![0.0; pattern.columns()]; pattern.rows()];
        pattern.iter().for_each(|(i, j)| dense[i][j] = self.below(19) as f64 - 9.0);
        dense
    }

    pub fn dense_symmetric(&mut self, pattern: &Pattern) -> Vec<Vec<f64>> {
        let lower = self.dense(pattern);
        let n = pattern.rows();
        (0..n).map(|i| (0..n).map(|j| lower[i.max(j)][i.min(j)]).collect()).collect()
    }
}

/// The pattern with these entries and the ones across the diagonal.
pub fn symmetric(n: usize, entries: impl IntoIterator<Item = (usize, usize)>) -> Pattern {
    Pattern::new(n, n, entries.into_iter().flat_map(|(i, j)| [(i, j), (j, i)])).unwrap()
}

/// The diagonal and `width` diagonals on each side.
pub fn band(n: usize, width: usize) -> Pattern {
    symmetric(n, (0..n).flat_map(|i| (i.saturating_sub(width)..=i).map(move |j| (i, j))))
}

pub fn cycle(n: usize) -> Pattern {
    symmetric(n, (0..n).flat_map(|i| [(i, i), (i, (i + 1) % n)]))
}

/// The diagonal, the first row and the first column.
pub fn arrow(n: usize) -> Pattern {
    symmetric(n, (0..n).flat_map(|i| [(i, i), (i, 0)]))
}

/// The 5-point stencil on a square grid.
pub fn grid(side: usize) -> Pattern {
    let cell = move |i: usize| {
        let right = (i % side + 1 < side).then_some((i, i + 1));
        let below = (i + side < side * side).then_some((i, i + side));
        [Some((i, i)), right, below].into_iter().flatten()
    };
    symmetric(side * side, (0..side * side).flat_map(cell))
}

fn adjacent(pattern: &Pattern, i: usize, j: usize) -> bool {
    i != j && pattern.contains(i, j)
}

/// Whether no two of the first columns, those that have colours, share a colour and a row.
pub fn is_column_coloring(pattern: &Pattern, colors: &[usize]) -> bool {
    let share = |j, k| (0..pattern.rows()).any(|i| pattern.contains(i, j) && pattern.contains(i, k));
    let n = colors.len();
    (0..n).all(|j| (0..j).all(|k| colors[j] != colors[k] || !share(j, k)))
}

fn is_proper(pattern: &Pattern, colors: &[usize]) -> bool {
    let n = colors.len();
    (0..n).all(|i| (0..i).all(|j| colors[i] != colors[j] || !adjacent(pattern, i, j)))
}

/// Whether the first vertices, those that have colours, are in a star colouring: by all paths of four.
pub fn is_star_coloring(pattern: &Pattern, colors: &[usize]) -> bool {
    let n = colors.len();
    let next = |v: usize| (0..n).filter(move |w| adjacent(pattern, v, *w));
    let two_colored = |a: usize| {
        next(a).any(|b| {
            let third = |c: &usize| *c != a && colors[*c] == colors[a];
            next(b).filter(third).any(|c| next(c).any(|d| d != b && d != a && colors[d] == colors[b]))
        })
    };
    is_proper(pattern, colors) && !(0..n).any(two_colored)
}

/// Whether the first vertices, those that have colours, are in an acyclic colouring: the vertices of any two
/// colours have as many edges as vertices less components.
pub fn is_acyclic_coloring(pattern: &Pattern, colors: &[usize]) -> bool {
    let count = colors.iter().max().map_or(0, |c| c + 1);
    let is_forest = |a: usize, b: usize| {
        let vertices: Vec<usize> = (0..colors.len()).filter(|v| [a, b].contains(&colors[*v])).collect();
        let edges = vertices.iter().flat_map(|v| vertices.iter().map(move |w| (*v, *w)));
        let edges = edges.filter(|(v, w)| v < w && adjacent(pattern, *v, *w)).count();
        edges + components(pattern, &vertices) == vertices.len()
    };
    is_proper(pattern, colors) && (0..count).all(|a| (0..a).all(|b| is_forest(a, b)))
}

fn components(pattern: &Pattern, vertices: &[usize]) -> usize {
    let mut unseen = vertices.to_vec();
    let mut count = 0;
    while let Some(start) = unseen.pop() {
        count += 1;
        let mut open = vec![start];
        while let Some(v) = open.pop() {
            open.extend(unseen.iter().copied().filter(|w| adjacent(pattern, v, *w)));
            unseen.retain(|w| !adjacent(pattern, v, *w));
        }
    }
    count
}

/// The least number of colours with which all vertices can be coloured; `is_valid` judges the colours of the
/// first few vertices.
pub fn least_count(vertices: usize, is_valid: &dyn Fn(&[usize]) -> bool) -> usize {
    (0..=vertices).find(|count| can_extend(&mut vec![], vertices, *count, is_valid)).unwrap()
}

fn can_extend(
    colors: &mut Vec<usize>,
    vertices: usize,
    count: usize,
    is_valid: &dyn Fn(&[usize]) -> bool,
) -> bool {
    if colors.len() == vertices {
        return true;
    }
    // colours not used yet are all alike
    let used = colors.iter().max().map_or(0, |c| c + 1);
    (0..count.min(used + 1)).any(|color| {
        colors.push(color);
        let found = is_valid(colors) && can_extend(colors, vertices, count, is_valid);
        colors.pop();
        found
    })
}
