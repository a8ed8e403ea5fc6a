//! The struct and its shadow in lanes: for each field a pack of its own.

use proc_macro2::TokenStream;
use quote::quote;

use super::expand::{label, lanes_name, Names};

impl Names<'_> {
    /// `Laned` for the struct and its shadow.
    pub(super) fn lanes(&self) -> TokenStream {
        let Names { p, lanes, types, name, shadow, .. } = self;
        let values: Vec<_> = types.iter().map(|ty| quote!(#ty)).collect();
        let shadows: Vec<_> = types.iter().map(|ty| quote!(<#ty as #p::Primal>::Shadow<#lanes>)).collect();
        let of_values = self.laned(name, &self.plain_generics(), &values);
        let of_shadows = self.laned(shadow, &self.shadow_generics(), &shadows);
        let sums = self.sums();
        quote!(#of_values #of_shadows #sums)
    }

    /// How packs of the shadow are added and summed.
    fn sums(&self) -> TokenStream {
        let Names { p, fields, shadow, .. } = self;
        let generics = self.shadow_generics();
        let (impl_generics, ty_generics, clause) = generics.split_for_impl();
        let lanes = lanes_name(shadow);
        let pack = quote!(#p::lanes::Pack<#shadow #ty_generics>);
        quote! {
            impl #impl_generics #p::lanes::LinearRows<#shadow #ty_generics> for #lanes #ty_generics #clause {
                #[inline(always)]
                fn plus<__S: #p::lanes::Isa>(s: __S, a: #pack, b: #pack) -> #pack {
                    let _ = s;
                    #p::lanes::Pack(#lanes { #(#fields: #p::lanes::plus(s, a.0.#fields, b.0.#fields)),* })
                }
                #[inline(always)]
                fn minus<__S: #p::lanes::Isa>(s: __S, a: #pack, b: #pack) -> #pack {
                    let _ = s;
                    #p::lanes::Pack(#lanes { #(#fields: #p::lanes::minus(s, a.0.#fields, b.0.#fields)),* })
                }
                #[inline(always)]
                fn negated<__S: #p::lanes::Isa>(s: __S, a: #pack) -> #pack {
                    let _ = s;
                    #p::lanes::Pack(#lanes { #(#fields: #p::lanes::negated(s, a.0.#fields)),* })
                }
                #[inline(always)]
                fn sum<__S: #p::lanes::Isa>(s: __S, a: #pack) -> #shadow #ty_generics {
                    let _ = s;
                    #shadow { #(#fields: #p::lanes::sum(s, #p::lanes::All, &a.0.#fields)),* }
                }
            }
        }
    }

    /// A struct with a pack for each field, and `Laned` in terms of it.
    fn laned(&self, name: &syn::Ident, generics: &syn::Generics, types: &[TokenStream]) -> TokenStream {
        let Names { p, fields, model, .. } = self;
        let (impl_generics, ty_generics, clause) = generics.split_for_impl();
        let vis = &model.item.vis;
        let lanes = lanes_name(name);
        let text = lanes.to_string();
        let doc = format!("[`{name}`] in lanes: each field for all of them.");
        let labels: Vec<_> = fields.iter().map(|f| label(f)).collect();
        let docs: Vec<_> = labels.iter().map(|f| format!("`{f}` in each lane.")).collect();
        let types: Vec<_> = types.iter().map(|ty| quote!(#p::lanes::Pack<#ty>)).collect();
        let declared = self.declared(&quote!(#lanes #generics), clause, &docs, &types);
        quote! {
            #[doc = #doc]
            #[allow(dead_code)]
            #vis #declared
            impl #impl_generics ::core::clone::Clone for #lanes #ty_generics #clause {
                #[inline(always)]
                fn clone(&self) -> Self {
                    Self { #(#fields: ::core::clone::Clone::clone(&self.#fields)),* }
                }
            }
            impl #impl_generics ::core::fmt::Debug for #lanes #ty_generics #clause {
                fn fmt(&self, f: &mut ::core::fmt::Formatter<'_>) -> ::core::fmt::Result {
                    f.debug_struct(#text) #(.field(#labels, &self.#fields))* .finish()
                }
            }
            impl #impl_generics #p::lanes::Laned for #name #ty_generics #clause {
                type Lanes = #lanes #ty_generics;
                type Rows = #p::lanes::LaneByLane;
                #[inline(always)]
                fn broadcast<__S: #p::lanes::Isa>(s: __S, v: Self) -> #p::lanes::Pack<Self> {
                    let _ = s;
                    #p::lanes::Pack(#lanes { #(#fields: #p::lanes::broadcast(s, v.#fields)),* })
                }
                #[inline(always)]
                fn lane(pack: &#p::lanes::Pack<Self>, k: usize) -> Self {
                    Self { #(#fields: #p::lanes::get(&pack.0.#fields, k)),* }
                }
                #[inline(always)]
                fn set_lane(pack: &mut #p::lanes::Pack<Self>, k: usize, v: Self) {
                    let _ = (&pack, k);
                    #(#p::lanes::set(&mut pack.0.#fields, k, v.#fields);)*
                }
                #[inline(always)]
                fn select<__S: #p::lanes::Isa>(
                    s: __S,
                    mask: #p::lanes::LaneMask,
                    a: #p::lanes::Pack<Self>,
                    b: #p::lanes::Pack<Self>,
                ) -> #p::lanes::Pack<Self> {
                    let _ = (s, mask);
                    #p::lanes::Pack(#lanes {
                        #(#fields: #p::lanes::Laned::select(s, mask, a.0.#fields, b.0.#fields)),*
                    })
                }
            }
        }
    }
}
