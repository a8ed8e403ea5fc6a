//! Dynamic values: what the interpreter computes with, and what crosses into devices that run the
//! IR instead of emitted code.

mod data;
mod dynarg;
mod planes;
mod scalar;
mod shapes;
mod stack;
mod variants;

pub(crate) use data::literal_number;
pub use data::{Array, Data, Record};
pub use dynarg::DynArg;
pub use planes::{Outline, PlaneReader, PlaneWriter};
pub use scalar::Value;
pub(crate) use scalar::{each_value, each_value_row};
pub use shapes::{same_shapes, Shapes};
pub use stack::Stack;
pub use variants::same_variants;
pub(crate) use variants::{fields_of_enum, variant, variant_mut};
