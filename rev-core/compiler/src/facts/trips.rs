//! How often a counted loop runs, where that is a number known without running the program: such
//! loops can be unrolled, and arrays of such lengths kept in registers.

use super::index::{Definitions, Indices};
use crate::ir::{Function, Range};

/// The number of values of a range in a function, where its ends differ by a number (`0..3`,
/// `2 * i..2 * i + 2`).
pub fn trips(function: &Function, range: &Range) -> Option<u64> {
    let definitions = Definitions::of(&function.body);
    Indices::new(&function.vars, &definitions).trips(range)
}

impl Indices<'_> {
    /// The number of values of a range, where its ends differ by a number and its step is one.
    pub fn trips(&self, range: &Range) -> Option<u64> {
        let width = self.difference(&range.end, &range.start)?.checked_add(i128::from(range.inclusive))?;
        let step = match &range.step {
            Some(step) => self.difference(step, &crate::ir::Expr::int(0)).filter(|s| *s > 0)?,
            None => 1,
        };
        u64::try_from(width.max(0).checked_add(step - 1)? / step).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ir::{Stmt, StmtKind};
    use crate::text::parse_function;

    fn first_range(block: &[Stmt]) -> Option<&Range> {
        block.iter().find_map(|s| match &s.kind {
            StmtKind::For { range, .. } => Some(range),
            _ => s.blocks().into_iter().find_map(|b| first_range(b)),
        })
    }

    fn trips_of(range: &str) -> Option<u64> {
        let text = format!(
            "fn f(y: &mut f64, n: usize) {{ let m: usize = 4 {{ for i in {range} {{ y += 1.0 }} }} }}"
        );
        let f = parse_function(&text).unwrap();
        trips(&f, first_range(&f.body).unwrap())
    }

    #[test]
    fn constant_ranges() {
        assert_eq!(trips_of("0..3"), Some(3));
        assert_eq!(trips_of("0..=m"), Some(5));
        assert_eq!(trips_of("(0..7).step_by(2)"), Some(4));
        assert_eq!(trips_of("(1..=4).step_by(2).rev()"), Some(2));
        assert_eq!(trips_of("2 * n..2 * n + m"), Some(4));
        assert_eq!(trips_of("5..2"), Some(0));
    }

    #[test]
    fn ranges_of_other_lengths() {
        assert_eq!(trips_of("0..n"), None);
        assert_eq!(trips_of("(0..4).step_by(n)"), None);
    }
}
