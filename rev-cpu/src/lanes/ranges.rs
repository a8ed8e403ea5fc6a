//! Counted loops whose bounds differ between lanes: each lane has its own values, and takes part for
//! as many trips as it has.

use rev_core::lanes::{active, get, set, splat, Isa, Mask, Pack, WIDTH};
use rev_core::scalar::Integer;

use crate::steps::Steps;

/// The trips of a loop: which lanes take part in each, and their values.
#[derive(Clone, Debug)]
pub struct Trips<I: Integer> {
    /// The values that each lane has left; none in a lane that isn't active.
    left: [Option<Steps<I>>; WIDTH],
    values: Pack<I>,
}

impl<I: Integer> Trips<I> {
    /// The trips of the active lanes over `start`, `start + step`, … to `end`. `form` says whether the
    /// end is visited, whether steps are counted from the end, and whether the values descend.
    ///
    /// # Errors
    ///
    /// The first active lane whose step is less than 1.
    pub fn new<S: Isa, M: Mask, D: Integer>(
        s: S,
        m: M,
        start: &Pack<I>,
        end: &Pack<I>,
        step: &Pack<D>,
        [inclusive, from_end, reversed]: [bool; 3],
    ) -> Result<Trips<I>, usize> {
        let mut left = [None; WIDTH];
        for k in active(s, m) {
            let (start, end, step) = (get(start, k), get(end, k), get(step, k));
            let steps = Steps::new(start, end, inclusive, step, from_end, reversed).ok_or(k)?;
            left[k] = Some(steps);
        }
        Ok(Trips { left, values: *start })
    }
}

impl<I: Integer> Iterator for Trips<I> {
    type Item = (Pack<bool>, Pack<I>);

    fn next(&mut self) -> Option<Self::Item> {
        let mut taking_part = splat(false);
        let mut any = false;
        for (k, left) in self.left.iter_mut().enumerate() {
            let Some(value) = left.as_mut().and_then(Steps::next) else {
                continue;
            };
            set(&mut self.values, k, value);
            set(&mut taking_part, k, true);
            any = true;
        }
        any.then_some((taking_part, self.values))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rev_core::lanes::{All, Portable};

    #[test]
    fn lanes_leave_when_their_values_are_used_up() {
        let mut end = splat(0i32);
        (0..WIDTH).for_each(|k| set(&mut end, k, k as i32 % 4));
        let mut mask = splat(true);
        set(&mut mask, 3, false);
        let form = [false, false, false];
        let trips = Trips::new(Portable::<WIDTH>, mask, &splat(1), &end, &splat(1), form).unwrap();
        let mut visited = vec![Vec::new(); WIDTH];
        for (active, values) in trips {
            for k in rev_core::lanes::active(Portable::<WIDTH>, active) {
                visited[k].push(get(&values, k));
            }
        }
        for (k, visited) in visited.iter().enumerate() {
            let all: Vec<i32> = (1..k as i32 % 4).collect();
            assert_eq!(*visited, if k == 3 { Vec::new() } else { all }, "lane {k}");
        }
        let wrong = Trips::new(Portable::<WIDTH>, All, &splat(1), &end, &end, form);
        assert_eq!(wrong.err(), Some(0));
    }
}
