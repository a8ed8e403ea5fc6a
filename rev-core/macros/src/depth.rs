//! The stack that the macro needs for a function: syn, the lowering and the emission are recursive.

use proc_macro2::{TokenStream, TokenTree};
use rev_compiler::check::Checked;
use rev_compiler::ir::depth;
use rev_compiler::limits::grown_by;

/// What a level takes, in bytes: more than in the core, as macros are compiled without optimization.
const LEVEL: usize = 64 << 10;

/// Runs what reads a function's tokens, on a stack that is large enough.
pub fn reading<R>(item: &TokenStream, f: impl FnOnce() -> R) -> R {
    grown_by(depth_of(item.clone()), LEVEL, f)
}

/// Runs what emits a function: what is derived from it is some times deeper.
pub fn emitting<R>(function: &Checked, f: impl FnOnce() -> R) -> R {
    grown_by(3 * depth(&function.body), LEVEL, f)
}

/// How deep a tree of the tokens may be: groups in groups, the longest statement of each, since operators make a chain
/// of operands a deep tree, and the declarations whose scopes reach to its end.
fn depth_of(tokens: TokenStream) -> usize {
    let (mut deepest, mut work) = (0, vec![(tokens, 0)]);
    while let Some((tokens, around)) = work.pop() {
        let (mut longest, mut length, mut scopes, mut inner) = (0, 0, 0, Vec::new());
        for token in tokens {
            length += 1;
            match token {
                TokenTree::Group(group) => inner.push(group.stream()),
                TokenTree::Punct(p) if p.as_char() == ';' => (longest, length) = (length.max(longest), 0),
                TokenTree::Ident(name) if name == "let" || name == "compute" => scopes += 1,
                TokenTree::Punct(_) | TokenTree::Ident(_) | TokenTree::Literal(_) => {}
            }
        }
        let own = around + longest.max(length) + scopes + 1;
        deepest = deepest.max(own);
        work.extend(inner.into_iter().map(|tokens| (tokens, own)));
    }
    deepest
}
