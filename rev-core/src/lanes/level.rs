//! Which instruction sets lanes are written for, and which of them the processor has.

use std::fmt;
use std::sync::OnceLock;

/// An instruction set that packs are computed with.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// Plain loops over the lanes, on any processor.
    Portable,
    /// ARM's NEON, which every 64-bit ARM processor has.
    Neon,
    /// AVX2 with FMA.
    Avx2,
    /// AVX-512 with its F, BW, DQ and VL parts.
    Avx512,
}

impl Level {
    /// All of them.
    pub const ALL: [Level; 4] = [Level::Portable, Level::Neon, Level::Avx2, Level::Avx512];

    /// Whether this processor has it.
    pub fn available(self) -> bool {
        static HERE: OnceLock<[bool; 4]> = OnceLock::new();
        HERE.get_or_init(|| Level::ALL.map(Level::detect))[self as usize]
    }

    #[cfg(target_arch = "x86_64")]
    fn detect(self) -> bool {
        use std::arch::is_x86_feature_detected as has;
        match self {
            Level::Portable => true,
            Level::Neon => false,
            Level::Avx2 => has!("avx2") && has!("fma"),
            Level::Avx512 => {
                has!("avx512f")
                    && has!("avx512bw")
                    && has!("avx512dq")
                    && has!("avx512vl")
                    && Level::Avx2.detect()
            }
        }
    }

    #[cfg(not(target_arch = "x86_64"))]
    fn detect(self) -> bool {
        match self {
            Level::Portable => true,
            Level::Neon => cfg!(target_arch = "aarch64"),
            Level::Avx2 | Level::Avx512 => false,
        }
    }
}

impl fmt::Display for Level {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Level::Portable => "portable",
            Level::Neon => "NEON",
            Level::Avx2 => "AVX2",
            Level::Avx512 => "AVX-512",
        })
    }
}
