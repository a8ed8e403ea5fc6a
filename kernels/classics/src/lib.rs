//! Programs that reversible languages are known by, written in rev, each beside the plain Rust that does the same without being reversible
//! (`plain`).
//!
//! | module | what it does | and backwards |
//! | --- | --- | --- |
//! | [`root`] | the integer square root, and what remains | squares |
//! | [`factors`] | a number to its prime factors | multiplies |
//! | [`run_length`] | a text to its runs | the text |
//! | [`permutation`] | a permutation to its number | the permutation |
//! | [`xtea`], [`feistel`] | ciphers | decipher |
//! | [`adder`] | adds by reversible gates | subtracts |
//! | [`lattice_gas`] | particles on a lattice, with exact momentum | the past, bit for bit |
//! | [`billiard`] | the billiard-ball automaton | the past, bit for bit |
//! | [`kepler`] | a planet's orbit by leapfrog | the past; bit for bit in fixed point |
//! | [`lorenz`] | Lorenz' system, whose steps lose what was there, for derivatives | |
//! | [`advection`] | a wave on a ring, its states kept | clears them |
//! | [`pyramid`] | levels of sines and cosines, for derivatives | |
//! | [`spin_glass`] | the energy of a ground state; the configuration is its gradient | |
//!
//! With the feature `tangents` the last five, which are about real numbers, have tangents, products with Hessians and Hessians too
//! (`kepler::orbit::jacobian`).
//!
//! ```
//! use rev_classics::{factors, xtea};
//!
//! let (mut number, mut primes, mut count) = (360, [0; 8], 0);
//! factors::factor(&mut number, &mut primes, &mut count)?;
//! assert_eq!((number, &primes[..count]), (1, &[2, 2, 2, 3, 3, 5][..]));
//! factors::factor::inverse(&mut number, &mut primes, &mut count)?;
//! assert_eq!(number, 360);
//!
//! let (text, key) = ([0x4142_4344, 0x4546_4748], [0x0001_0203, 0x0405_0607, 0x0809_0a0b, 0x0c0d_0e0f]);
//! let mut block = text;
//! xtea::encipher(&mut block, &key)?;
//! assert_eq!(block, [0x497d_f3d0, 0x7261_2cb5]);
//! xtea::encipher::inverse(&mut block, &key)?;
//! assert_eq!(block, text);
//! # Ok::<(), rev_core::Error>(())
//! ```

pub mod adder;
pub mod advection;
pub mod billiard;
pub mod factors;
pub mod feistel;
pub mod kepler;
pub mod lattice_gas;
pub mod lorenz;
pub mod permutation;
pub mod pyramid;
pub mod root;
pub mod run_length;
pub mod spin_glass;
pub mod suite;
pub mod xtea;
