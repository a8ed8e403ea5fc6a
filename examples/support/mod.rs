//! What the example programs share: their options, how they end, how they time, how they check
//! derivatives and how they print. Each of them needs a part of it.

#![allow(dead_code, unused_imports)]

mod check;
mod failure;
mod options;
mod record;
mod table;
mod timing;

pub use check::{largest, Checks};
pub use failure::{finish, Failure, Outcome};
pub use options::{positive, DeviceName, RunOptions};
pub use record::write_json;
pub use table::{number, Report};
pub use timing::{progress, Stopwatch, Timing};
