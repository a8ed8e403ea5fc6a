//! Arguments that decide on the way back how often a loop runs. Rounded, they may decide otherwise than on the way there, and
//! nothing in the program says what they have to come back as; the entry points, which have copies, do.

use proc_macro2::TokenStream;
use quote::{format_ident, quote};
use rev_compiler::pass::deciding_arguments;

use super::{Entry, Slot};
use crate::names::plain;

/// What an entry point does about them.
#[derive(Default)]
pub struct Decided {
    /// Keeps what they are, where their variables are made.
    pub keep: TokenStream,
    /// Compares what has come back with that.
    pub compare: TokenStream,
    /// Whether there are any: then the adjoint has to restore the state.
    pub any: bool,
}

/// Of a function's arguments in these variables.
pub fn decided(entry: &Entry, slots: &[Slot]) -> Decided {
    let (p, device) = (entry.p, entry.device());
    let mut out = Decided::default();
    for k in deciding_arguments(&entry.model.function) {
        let (Some(param), Some(slot)) = (entry.model.params.get(k), slots.get(k)) else { continue };
        let (variable, given, name) = (&slot.name, format_ident!("__given_{k}"), plain(&param.ident));
        let found = if slot.reference { quote!(&*#variable) } else { quote!(&#variable) };
        out.any = true;
        out.keep.extend(quote!(let #given = ::core::clone::Clone::clone(#found);));
        out.compare.extend(quote! {
            #p::checks::came_back(#p::Device::backend(#device).options(), #name, #found, &#given)?;
        });
    }
    out
}
