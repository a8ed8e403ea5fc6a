//! Which version of PTX has what (PTX ISA manual, "Release notes" and "Target ISA notes").

use crate::driver::Target;

/// A version of PTX: major, minor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Version(pub u32, pub u32);

/// The version that everything printed without a version of its own is in: `red.add.f64` and
/// `.target sm_60`.
pub const BASE: Version = Version(5, 0);
/// `shfl.sync` and `vote.sync`.
pub const SHUFFLE: Version = Version(6, 0);
/// `activemask`.
pub const ACTIVE_MASK: Version = Version(6, 2);

/// Targets and the versions that brought them, newest first.
const TARGETS: [(u32, Version); 16] = [
    (121, Version(8, 8)),
    (120, Version(8, 7)),
    (103, Version(8, 8)),
    (101, Version(8, 6)),
    (100, Version(8, 6)),
    (90, Version(7, 8)),
    (89, Version(7, 8)),
    (87, Version(7, 4)),
    (86, Version(7, 1)),
    (80, Version(7, 0)),
    (75, Version(6, 3)),
    (72, Version(6, 1)),
    (70, Version(6, 0)),
    (62, Version(5, 0)),
    (61, Version(5, 0)),
    (60, Version(5, 0)),
];

/// The newest known target that isn't newer than the device (PTX for an older one runs on it), and the
/// version that it needs. Below 60, which nothing is generated for, 60.
pub fn target(device: Target) -> (u32, Version) {
    TARGETS.into_iter().find(|(target, _)| *target <= device.0).unwrap_or((60, BASE))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_device_gets_the_next_older_target() {
        assert_eq!(target(Target(90)), (90, Version(7, 8)));
        assert_eq!(target(Target(95)), (90, Version(7, 8)));
        assert_eq!(target(Target(60)), (60, Version(5, 0)));
        assert_eq!(target(Target(999)).0, 121);
        assert!(TARGETS.windows(2).all(|w| w[0].0 > w[1].0));
    }
}
