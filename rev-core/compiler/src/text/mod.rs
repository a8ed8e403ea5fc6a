//! The text form of programs: what a reader sees, what tests are written in, and what the emitted
//! code carries so that `f::ir()` can give the program back.
//!
//! There is one language with two levels of detail. The *clean* form ([`print_function`], and
//! `Display` of every part) says what a program does. The *encoded* form ([`encode_function`]) adds
//! what only tools need: source positions, the file, and the table of variables in its own order.
//! [`parse_function`] and [`parse_module`] read both:
//!
//! - `parse(encode(f)) == f`, exactly;
//! - `print(parse(print(f))) == print(f)`: the clean form determines the program up to positions and
//!   the numbering of variables.
//!
//! ```
//! let text = "\
//! fn fit<T: Real>(loss: &mut T, w: [T], x: Array2<T>, y: [T]) {
//!     par for i in 0..len(y) {
//!         managed anc p: T = 0_T {
//!             for j in 0..len(w) {
//!                 p += x[i, j] * w[j]
//!             }
//!             let r: T = p - y[i] {
//!                 loss += r * r / (1_T + abs(r))
//!             }
//!         }
//!     }
//! }
//! ";
//! let f = rev_compiler::text::parse_function(text)?;
//! assert_eq!(rev_compiler::text::print_function(&f), text);
//! # Ok::<(), rev_compiler::text::ParseError>(())
//! ```
//!
//! # The language
//!
//! | form | text |
//! | --- | --- |
//! | parameters | `x: T` read, `y: &mut T` written, `x_bar: &acc T` accumulated into |
//! | types | `f64`, `T`, `Complex<T>`, `[T]`, `Array2<T>` (1 to 4 …), `ArrayD<T>`, `[T; 3]`, `(A, B)`, `Camera<T>`, `Stack<T>`, `Shadow<T>`, `_` (unknown) |
//! | generics | `T: Real`, `const N: usize`, `F: fn(&mut T, [T])` |
//! | updates, instructions | `y += e`, `swap(a, b)`, `rot(a, b, θ)` |
//! | scopes | `let n: T = e { … }`, `anc a: T = e { … }` (checked), `managed anc …`, `dropped anc …` |
//! | functions | `unchecked fn f(y: &mut T, x: T, c: [T]) constant(c) { … }` |
//! | control | `if c { … } else { … } post q`, `while c post q { … }`, `for i in (a..b).step_by(k).rev() { … }`, `par for i in a..b injective(idx) disjoint(y) { … }` |
//! | calls | `call f(&mut y, &x, n + 1)`, `uncall f(…)`, `call adjoint f(…)`, `uncall adjoint^2 f(…)`, `call tangents f(…)` |
//! | blocks | `compute { … } do { … }`, `inverse { … }`, `unchecked { … }`, `external "…"` |
//! | stacks, release | `push(s, x)`, `pop(s, x)`, `release a = e` |
//! | literals | `2.0`, `3usize`, `0_T`, `(true: bool)`; negative ones are literals too, `-(2)` is an operation |
//! | expressions | operators as in Rust; `sin(x)`: table functions and pure functions; `len(a)`, `dim(a, 1)`, `fill(e, n, m)`, `[e; n]`, `zero(Type)`, `zero_shadow(a)`, `stack()`, `partials f(x)`, `{ let t: T = e; t * t }`, `(t).0` |
//! | names | as in Rust; `` `any text` `` where a name is a word of this language or isn't a Rust path |
//! | positions | glued to an atom or operator, before a statement: `@12:4-9` (line 12, columns 4 to 9), `@12:4-13:1`, `@0` (none) |

mod names;
mod parse;
mod print;
mod token;

pub use parse::{parse_function, parse_located, parse_located_module, parse_module, ParseError};
pub use print::Headlines;
pub use print::{encode_function, encode_module, headline, print_function, show, Printable, Shown};

#[cfg(test)]
mod tests;
