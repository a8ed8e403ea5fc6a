//! Bennett's recursion: a path in segments, each of them in segments.
//!
//! Bennett, "Time/space trade-offs for reversible computation" (1989). With `k` segments and `l` levels,
//! `n = k^l` steps take `(2k - 1)^l` calls and `l (k - 1) + 2` states, the first and the last among them. Any
//! other length is divided, as in NiLang's `bennett`, into segments of `⌈n / k⌉` steps, of which the last one is
//! shorter.

use std::collections::HashMap;

use crate::pebbling::{Parts, Top};
use crate::ScheduleError;

/// Bennett's recursion with `k` segments.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Bennett {
    segments: u64,
}

impl Bennett {
    /// With this many segments.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::FewSegments`] with less than 2.
    pub fn new(segments: u64) -> Result<Bennett, ScheduleError> {
        match segments {
            0 | 1 => Err(ScheduleError::FewSegments { segments }),
            _ => Ok(Bennett { segments }),
        }
    }

    pub(crate) fn parts(&self, len: u64) -> Parts {
        let size = len.div_ceil(self.segments);
        Parts { size, count: len.div_ceil(size) }
    }

    /// The calls of [`Bennett::program`], without walking through it.
    ///
    /// # Errors
    ///
    /// [`ScheduleError::Overflow`] where a `u128` doesn't hold them.
    pub fn calls(&self, steps: u64, top: Top) -> Result<u128, ScheduleError> {
        self.count(steps, top, &mut HashMap::new()).ok_or(ScheduleError::Overflow)
    }

    /// `F(n) = (2c - 2) F(size) + F(rest)` for `c` parts, half of the first without taking back. There are two
    /// lengths on each level.
    fn count(&self, len: u64, top: Top, known: &mut HashMap<u64, u128>) -> Option<u128> {
        if len < 2 {
            return Some(u128::from(len));
        }
        if let (Top::TakenBack, Some(&calls)) = (top, known.get(&len)) {
            return Some(calls);
        }
        let Parts { size, count } = self.parts(len);
        let whole = self.count(size, Top::TakenBack, known)?;
        let rest = self.count(len - size * (count - 1), Top::TakenBack, known)?;
        let sweeps = if top == Top::Kept { 1 } else { 2 };
        let calls = whole.checked_mul(sweeps * u128::from(count - 1))?.checked_add(rest)?;
        if top == Top::TakenBack {
            known.insert(len, calls);
        }
        Some(calls)
    }
}
