//! The scalars that the processor has vector instructions for.

use super::pack::lane_by_lane;

lane_by_lane! { [] f32; [] f64; [] i32; [] i64; [] isize; [] u32; [] u64; [] usize; }
