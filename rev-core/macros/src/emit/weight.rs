//! The work of an iteration of a parallel loop, as an expression of Rust.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::plan::{Arithmetic, Count, Work};

use super::body::Body;
use super::names::ident;

impl Body<'_> {
    /// The work as a `usize`.
    pub fn work(&mut self, work: &Work) -> TokenStream {
        let (known, terms) = (work.known, self.counts(&work.terms));
        quote!(#known #(.saturating_add(#terms))*)
    }

    fn counts(&mut self, counts: &[Count]) -> Vec<TokenStream> {
        counts.iter().map(|c| self.count(c)).collect()
    }

    fn count(&mut self, count: &Count) -> TokenStream {
        let p = self.p;
        match count {
            Count::Number(n) => quote!(#n),
            Count::Value(e) => {
                let value = self.expr(e);
                quote!(#p::parallel::extent(#value))
            }
            Count::Size(e) => self.expr(e),
            Count::Elements(var) => {
                let name = self.name(*var);
                quote!(#p::Extents::count(&#name))
            }
            Count::Shape(extents) => {
                let extents = self.counts(extents);
                quote!(1usize #(.saturating_mul(#extents))*)
            }
            Count::Products(counts) => {
                let counts = self.counts(counts);
                quote!(#p::parallel::products(&[#(#counts),*]))
            }
            Count::Of(op, args) => {
                let [a, b] = [&args[0], &args[1]].map(|c| self.count(c));
                let name = ident(match op {
                    Arithmetic::Add => "saturating_add",
                    Arithmetic::Sub => "saturating_sub",
                    Arithmetic::Mul => "saturating_mul",
                });
                quote!((#a).#name(#b))
            }
            Count::Work(work) => self.work(work),
        }
    }
}
