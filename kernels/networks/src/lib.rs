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
//! | [`ode`] | a differential equation with a network, by steps that can be undone |
//! | [`graph_embedding`] | a graph drawn so that its edges have one length |
//! | [`consistency`] | learning without derivatives, by running to and fro |
//! | [`adam`] | the optimiser Adam, in plain Rust |
//!
//! With the feature `tangents` they have tangents, products with Hessians and Hessians too (`losses::cross_entropy::hvp`).
//!
//! Two layers, and the gradient of the loss by all their weights:
//!
//! ```
//! use ndarray::{arr1, arr2, ArrayView1, ArrayView2};
//! use rev_cpu::prelude::*;
//! use rev_networks::{layers::{activate, add_gelu, dense}, losses::cross_entropy_of_labels};
//!
//! #[reversible(loss = loss, constant(x))]
//! fn network<T: Real>(
//!     loss: &mut T,
//!     found: &mut [usize],
//!     x: ArrayView2<T>,
//!     labels: &[usize],
//!     w1: ArrayView2<T>,
//!     b1: ArrayView1<T>,
//!     w2: ArrayView2<T>,
//!     b2: ArrayView1<T>,
//! ) {
//!     let mut sums: Array2<T> = zeros((x.nrows(), w1.nrows()));
//!     let mut hidden: Array2<T> = zeros((x.nrows(), w1.nrows()));
//!     let mut scores: Array2<T> = zeros((x.nrows(), w2.nrows()));
//!     dense(sums.view_mut(), x, w1, b1);
//!     activate(hidden.view_mut(), sums.view(), add_gelu);
//!     dense(scores.view_mut(), hidden.view(), w2, b2);
//!     cross_entropy_of_labels(&mut loss, &mut found, scores.view(), &labels);
//! }
//!
//! let (x, labels) = (arr2(&[[0.0, 1.0], [1.0, 0.0], [1.0, 1.0]]), [0, 1, 1]);
//! let (mut w1, mut b1) = (arr2(&[[0.5, -0.3], [0.2, 0.8]]), arr1(&[0.1, 0.0]));
//! let (mut w2, mut b2) = (arr2(&[[0.4, 0.1], [-0.2, 0.6]]), arr1(&[0.0, 0.0]));
//! let cpu = Cpu::new();
//! let mut adam = rev_networks::adam::Adam::new(0.1, 12);
//! let mut losses = vec![];
//! for _ in 0..100 {
//!     let g = network::gradient(&cpu, &[0; 3], x.view(), &labels, w1.view(), b1.view(), w2.view(), b2.view())?;
//!     adam.step(
//!         w1.iter_mut().chain(&mut b1).chain(&mut w2).chain(&mut b2),
//!         g.w1.iter().chain(&g.b1).chain(&g.w2).chain(&g.b2),
//!     );
//!     losses.push(g.value);
//! }
//! assert!(losses[99] < 0.05 * losses[0]);
//! # Ok::<(), rev_core::error::Error>(())
//! ```

pub mod adam;
pub mod attention;
pub mod consistency;
pub mod flows;
pub mod graph_embedding;
pub mod layers;
pub mod losses;
pub mod ode;
pub mod recurrent;
pub mod residual;
pub mod suite;
