//! The scalars that the processor has vector instructions for.

use super::pack::lane_by_lane;

lane_by_lane! {
    [] f32: 4; [] f64: 8; [] i32: 4; [] i64: 8; [] u32: 4; [] u64: 8;
}
#[cfg(target_pointer_width = "64")]
lane_by_lane! { [] isize: 8; [] usize: 8; }
#[cfg(not(target_pointer_width = "64"))]
lane_by_lane! { [] isize; [] usize; }
