//! Programs written in rev, each beside the plain Rust that does the same without being reversible (`plain`): layers and losses, invertible
//! networks, learning.
//!
//! | module | what it has |
//! | --- | --- |
//! | [`layers`] | dense layers, convolutions, activations |
//! | [`losses`] | softmax, cross entropies |
//! | [`mod@attention`] | attention of queries to keys |
//! | [`flows`] | coupling layers, NICE, Real NVP, the transformation of Box and Muller |
//! | [`mod@residual`] | reversible residual networks |
//! | [`mod@recurrent`] | a reversible gated recurrent unit |
//! | [`consistency`] | learning without derivatives, by running to and fro |
//! | [`adam`] | the optimiser Adam, in plain Rust |

pub mod adam;
pub mod attention;
pub mod consistency;
pub mod flows;
pub mod layers;
pub mod losses;
pub mod recurrent;
pub mod residual;
pub mod suite;
