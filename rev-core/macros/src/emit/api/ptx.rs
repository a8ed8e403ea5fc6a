//! `f::ptx`: the function's programs as text for a GPU.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};

use super::{Entry, Slot};
use rev_compiler::ir::Mode;

/// The function.
pub fn function(entry: &Entry) -> TokenStream {
    let (p, vis, device) = (entry.p, &entry.model.item.vis, entry.device());
    let (declared, conditions) = (entry.signature.declared(), entry.signature.conditions());
    let inputs = entry.params().map(|(param, passed)| entry.shared_input(param, passed));
    let n = quote!(1usize);
    let mut start = TokenStream::new();
    let (mut values, mut both) = (Vec::new(), Vec::new());
    for (param, passed) in entry.params() {
        let own = param.mode != Mode::Read;
        let slot = if own { Slot::own(param.ident.clone(), passed.clone()) } else { Slot::of(param, passed) };
        start.extend(if own { entry.copied(param, passed) } else { entry.rebound([&slot].into_iter()) });
        let (bar, zero) = (format_ident!("__{}_bar", param.ident), entry.zero_shadow(&slot, &n));
        start.extend(quote!(let mut #bar = #zero;));
        values.push(slot.dynamic(p));
        both.push(slot.dynamic(p));
        both.push(Slot::own(bar, passed.shadow(p)).dynamic(p));
    }
    let module = entry.module();
    quote! {
        /// The texts of the function, its inverse and its adjoint for a GPU, for arguments of these
        /// types. Nothing is run.
        #vis fn ptx<#declared>(
            #device: &(impl #p::Generator + ?Sized), #(#inputs),*
        ) -> ::core::result::Result<#p::Texts, #p::Error> #conditions {
            #start
            let __module = #module;
            let [__forward, __inverse] = #p::Texts::of_values(#device, __module, &mut [#(#values),*])?;
            let __adjoint = #p::Texts::of_adjoint(#device, __module, &mut [#(#both),*])?;
            __Ok(#p::Texts {
                forward: __forward, inverse: __inverse, adjoint: __adjoint,
            })
        }
    }
}
