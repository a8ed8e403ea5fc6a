//! Running one of a function's programs on a device: a hidden function for each program, which all entry points call.

use proc_macro2::{Ident, TokenStream};
use quote::{format_ident, quote};
use rev_compiler::ir::{Direction, Mode};

use super::{lent, Entry, Slot};
use crate::emit::call::program_name;
use crate::emit::derived;
use crate::emit::program::passed_params;
use crate::emit::signature::{Passed, Shape};

/// What is known about a run of an adjoint, or of tangents.
#[derive(Clone, Copy, Default)]
pub struct Known<'a> {
    /// Nobody reads the state that it restores.
    pub forgets: bool,
    /// The positions of arguments that hold zeros.
    pub zeros: &'a [usize],
}

impl Slot {
    /// As an argument of a hidden function.
    fn given(&self) -> TokenStream {
        let name = &self.name;
        match (self.passed.shape, self.passed.mode != Mode::Read) {
            (Shape::Function, _) => quote!(#name),
            (Shape::Value, true) if self.reference => quote!(&mut *#name),
            (Shape::Value, false) if self.reference => quote!(&*#name),
            (Shape::Value, true) => quote!(&mut #name),
            (Shape::Value, false) => quote!(&#name),
            (Shape::Slice, true) => quote!(&mut #name[..]),
            (Shape::Slice, false) => quote!(&#name[..]),
            (Shape::Array(_), true) => quote!(#name.view_mut()),
            (Shape::Array(_), false) => quote!(#name.view()),
        }
    }
}

impl Entry<'_> {
    /// A run of one of the programs: an expression of type `()` that leaves the function with an error.
    pub fn dispatch(&self, direction: Direction, slots: &[Slot], width: Option<&TokenStream>) -> TokenStream {
        self.dispatch_knowing(direction, slots, width, Known::default())
    }

    /// The same with what is known about it.
    pub fn dispatch_knowing(
        &self,
        direction: Direction,
        slots: &[Slot],
        width: Option<&TokenStream>,
        Known { forgets, zeros }: Known,
    ) -> TokenStream {
        let (device, of, name) = (self.device(), &self.model.item.sig.ident, dispatcher(direction));
        let (given, slots) = (self.signature.given(), slots.iter().map(Slot::given));
        let (p, mode) = (self.p, format_ident!("{}", if forgets { "Forgetful" } else { "Restoring" }));
        let wide = width.map(|width| quote!(#p::#mode, #width));
        let zeros = width.map(|_| quote!(&[#(#zeros),*],));
        quote!(#of::#name::<#given #wide>(#device, #zeros #(#slots),*)?)
    }

    /// The hidden functions for some programs.
    pub fn dispatchers(&self, directions: &[Direction]) -> TokenStream {
        directions.iter().map(|&direction| self.dispatcher(direction)).collect()
    }

    fn dispatcher(&self, direction: Direction) -> TokenStream {
        let (p, device, name) = (self.p, self.device(), dispatcher(direction));
        let (declared, conditions) = (self.signature.declared(), self.signature.conditions());
        let slots = self.arguments(direction);
        let inputs = slots.iter().map(|slot| {
            let (name, ty) = (&slot.name, &slot.passed.ty);
            match slot.passed.shape {
                Shape::Function => quote!(#name: #ty),
                shape => lent(p, name, shape, ty, slot.passed.mode != Mode::Read),
            }
        });
        let (rebound, run) = (self.rebound(slots.iter()), self.run(direction, &slots));
        let wide = direction.adjoint > 0;
        let (width, known) = match wide {
            true => (quote!(__C: #p::Mode, const __N: usize,), quote!(__zeros: &[usize],)),
            false => (TokenStream::new(), TokenStream::new()),
        };
        quote! {
            #[doc(hidden)]
            pub fn #name<#declared #width>(
                #device: &(impl #p::Device + ?Sized), #known #(#inputs),*
            ) -> ::core::result::Result<(), #p::Error> #conditions {
                #rebound
                #run
            }
        }
    }

    /// The arguments of a program: references, views and functions under the parameters' names, each followed by what stands
    /// beside it.
    fn arguments(&self, direction: Direction) -> Vec<Slot> {
        let all: Vec<Passed> = passed_params(self.signature, direction, self.p);
        let each = all.len() / self.model.params.len().max(1);
        let named = all.into_iter().enumerate().map(|(k, passed)| {
            let name = match k % each {
                0 => self.model.params[k / each].ident.clone(),
                _ => format_ident!("__a{k}"),
            };
            Slot { name, reference: passed.shape.is_by_reference(), passed }
        });
        named.collect()
    }

    fn run(&self, direction: Direction, slots: &[Slot]) -> TokenStream {
        let (p, device) = (self.p, self.device());
        let native: Vec<_> = slots.iter().map(|s| s.native(p)).collect();
        let dynamic = slots.iter().map(|s| s.dynamic(p));
        let Direction { adjoint, inverse, transposed } = direction;
        let (module, adjoint) = match direction == Direction::TANGENTS_OF_ADJOINT {
            true => (self.pullback_module(), 1),
            false => (self.module(), adjoint),
        };
        let native = self.native_run(direction, &native);
        let zeros = match direction.adjoint > 0 {
            true => quote!(__zeros),
            false => quote!(&[]),
        };
        quote! {
            match #p::Device::backend(#device) {
                #p::Backend::Native(__options) => {
                    let __run = #p::Run::new(__options);
                    #p::recursion::with_room(|| #native)
                }
                #p::Backend::Dynamic(__dynamic) => {
                    let __direction = #p::ir::Direction {
                        adjoint: #adjoint, inverse: #inverse, transposed: #transposed,
                    };
                    __dynamic.execute_on_zeros(#module, __direction, &mut [#(#dynamic),*], #zeros)
                }
            }
        }
    }

    fn native_run(&self, direction: Direction, args: &[TokenStream]) -> TokenStream {
        let (p, program, given) = (self.p, program_name(direction), self.signature.given());
        // programs of tangents are those of the function's tangent
        let name = match direction.transposed {
            true => derived::name(&self.model.item.sig.ident, derived::Kind::Tangent),
            false => self.model.item.sig.ident.clone(),
        };
        let (mode, width) = match direction.adjoint > 0 {
            true => (quote!(__C, __N), quote!(#p::Width::<__N>,)),
            false => (quote!(#p::Restoring), TokenStream::new()),
        };
        quote!((#name {}).#program::<#given #mode>(__run.context(), #width #(#args),*))
    }

    /// The module about the adjoint on numbers, with the functions that arguments are.
    fn pullback_module(&self) -> TokenStream {
        if !self.takes_functions() {
            return quote!(Self::__pullback_module()?);
        }
        let (p, module) = (self.p, self.module());
        quote!(#module.pullback().map_err(#p::Error::from)?)
    }

    /// The module of the function as an expression, likewise.
    pub fn module(&self) -> TokenStream {
        let p = self.p;
        let functions: Vec<_> = self
            .params()
            .filter(|(_, passed)| passed.shape == Shape::Function)
            .map(|(param, _)| &param.ident)
            .collect();
        if functions.is_empty() {
            return quote!(Self::__module());
        }
        quote!(&{
            let mut __c = #p::Collector::about(Self {}.__name());
            Self {}.__collect(&mut __c);
            #(#p::Reversible::collect(#functions, &mut __c);)*
            __c.finish()
        })
    }
}

/// The name of the hidden function for a program.
fn dispatcher(direction: Direction) -> Ident {
    format_ident!("__on{}", program_name(direction))
}
