//! Recursive functions: which they are, and what their programs do first.
//!
//! A macro sees one function, so a constant function of each says whether its calls lead back to it, or to another
//! recursion. Where they do, a program counts how many of these calls are inside each other, and sees to its stack.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::facts::calls;
use rev_compiler::ir::{Expr, Function, Stmt};

use super::api::aliases;
use super::body::Scope;
use super::program::callee_programs;

/// Chains of calls that are longer count as recursive.
const CHAIN: u32 = 32;

/// What the largest frame of a program takes where nothing is optimized: for itself and for each node, in bytes.
const FRAME: usize = 1 << 10;
const NODE: usize = 1 << 7;

/// `__recurses(depth)`: whether calls are at least so many deep inside each other.
pub fn recurses(scope: &Scope, function: &Function) -> TokenStream {
    let calls = calls(function);
    let inside = calls.paths.iter().map(|path| {
        let path = callee_programs(scope, path);
        quote!(|| #path.__recurses(__depth - 1))
    });
    let (given, aliases) = (calls.given, aliases(&function.generics));
    quote! {
        #[doc(hidden)]
        pub const fn __recurses(self, __depth: u32) -> bool {
            #aliases
            #given || __depth == 0 #(#inside)*
        }
    }
}

/// Whether the function of a program is recursive, a constant; `None` where it surely isn't.
pub fn is_recursive(function: &Function) -> Option<TokenStream> {
    let calls = calls(function);
    (calls.given || !calls.paths.is_empty()).then(|| quote!(const { (Self {}).__recurses(#CHAIN) }))
}

/// What a program does first: `again` calls it with the same arguments.
pub fn entry(p: &TokenStream, function: &Function, again: &TokenStream) -> TokenStream {
    let Some(recursive) = is_recursive(function) else { return TokenStream::new() };
    let frame = frame(function);
    quote! {
        let __cx = if #recursive {
            if #p::recursion::is_low(#frame) {
                return #p::recursion::on_more(#frame, move || #again);
            }
            __cx.deeper()?
        } else {
            __cx
        };
    }
}

/// More bytes than a program's frame takes, apart from fixed-size arrays.
pub fn frame(function: &Function) -> usize {
    fn nodes(e: &Expr) -> usize {
        let mut count = 1;
        e.each_child(&mut |child| count += nodes(child));
        count
    }
    fn of(stmt: &Stmt) -> usize {
        let mut count = 4;
        stmt.each_expr(&mut |e| count += nodes(e));
        stmt.each_place(&mut |place, _| count += 1 + place.indices().map(nodes).sum::<usize>());
        count + stmt.blocks().into_iter().flatten().map(of).sum::<usize>()
    }
    FRAME + NODE * (function.params.len() + function.body.iter().map(of).sum::<usize>())
}

/// The call of a program with the arguments that it was called with.
pub fn again(
    program: &Ident,
    given: &TokenStream,
    shadowed: bool,
    p: &TokenStream,
    args: &[Ident],
) -> TokenStream {
    match shadowed {
        true => quote!(self.#program::<#given _, __N>(__cx, #p::Width::<__N>, #(#args),*)),
        false => quote!(self.#program::<#given _>(__cx, #(#args),*)),
    }
}
