//! What the random programs of the tests share, as the macro compiles it, and the comparison of
//! their emitted code with the reference interpreter.
//!
//! The interpreter runs what the generator made, not what the macro read from its Rust source, so
//! that the way from the source to the intermediate representation is compared too.

mod compare;
pub mod forms;

pub use compare::{compare, Case, Cases, Jacobian, Run, Runners};

/// What every program may use.
pub mod prelude {
    pub use crate::{Case, Run};
    pub use ndarray::{Array2, ArrayView1, ArrayView2, ArrayViewMut1, ArrayViewMut2};
    pub use rev_core::value::{Data, DynArg};
    pub use rev_cpu::prelude::*;

    include!(concat!(env!("OUT_DIR"), "/prelude.rs"));
}

/// What every program of source forms may use.
pub mod forms_prelude {
    pub use crate::forms::{Case, Fixed, Run};
    pub use ndarray::Array2;
    pub use rev_core::scalar::fraction::{U100, U16, U20};
    pub use rev_core::value::{Data, DynArg};
    pub use rev_cpu::prelude::*;
    pub use rev_cpu::prelude::{Error, Primal};
    pub use rev_numbers::{Log, MaxPlus, MinPlus, Odd};

    /// A number of any type.
    pub fn r<T: Real>(v: f64) -> T {
        T::from_f64(v)
    }

    include!(concat!(env!("OUT_DIR"), "/odd.rs"));
}
