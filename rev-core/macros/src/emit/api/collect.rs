//! `f::ir()`: the function's IR with all that it calls. The text of the checked function is embedded
//! in the program; what it calls is named by paths, and adds itself.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::Module;
use rev_compiler::ir::{FunctionPath, Generic, GenericKind};
use rev_compiler::text::{encode_module, parse_module};

use super::Entry;
use crate::emit::callee::{programs, Kind};
use crate::emit::names::ident;
use crate::model::Source;

/// The associated functions.
pub fn functions(entry: &Entry) -> TokenStream {
    let (p, vis) = (entry.p, &entry.model.item.vis);
    quote! {
        /// The program of the function as IR, with everything that it calls. A reversible function
        /// that is an argument isn't in it.
        #vis fn ir() -> #p::ir::Module {
            ::core::clone::Clone::clone(Self::__module())
        }

        #[doc(hidden)]
        pub fn __module() -> &'static #p::ir::Module {
            static MODULE: #p::OwnModule = #p::OwnModule::new();
            MODULE.get(Self {}.__name(), |__c| Self {}.__collect(__c))
        }

        // the module of the fused program, for devices that run the IR
        #[doc(hidden)]
        pub fn __fused_module() -> ::core::option::Option<&'static #p::ir::Module> {
            static MODULE: #p::FusedModule = #p::FusedModule::new();
            MODULE.get(Self::__module)
        }
    }
}

/// The name of a function or pure function, and the function by which it adds itself to a module
/// with all that it calls.
pub fn collected(p: &TokenStream, module: &Module, generics: &[Generic], source: &Source) -> TokenStream {
    let text = match text_of(module) {
        Ok(text) => text,
        Err(wrong) => return quote!(::core::compile_error! { #wrong }),
    };
    let aliases = aliases(generics);
    let structs = source.structs.iter().map(|(path, ty)| quote!(__c.structure::<#ty>(self.__name(), #path);));
    let constants =
        source.constants.iter().map(|(text, path)| match source.tables.values().any(|t| t == text) {
            true => quote!(__c.table(#text, &#path);),
            false => quote!(__c.constant(#text, #path);),
        });
    let of = |paths: Vec<(&FunctionPath, &syn::Path)>, kind: Kind| -> TokenStream {
        paths
            .into_iter()
            .map(|(path, written)| {
                let text = path.as_str();
                let callee = programs(p, source, written, kind);
                quote! {
                    let __f = #callee;
                    __f.__collect(__c);
                    __c.link(self.__name(), #text, __f.__name());
                }
            })
            .collect()
    };
    let links = of(source.callees.iter().chain(&source.functions).collect(), Kind::Reversible);
    let pures = of(source.pures.iter().collect(), Kind::Pure(0));
    quote! {
        // the type's path, which for a function inside another names that one too
        #[doc(hidden)]
        pub fn __name(self) -> &'static str {
            ::core::any::type_name::<Self>()
        }

        #[doc(hidden)]
        pub fn __collect(self, __c: &mut #p::Collector) {
            if __c.add(self.__name(), #text) {
                #aliases
                #(#structs)*
                #(#constants)*
                #links
                #pures
            }
        }
    }
}

/// The text of a module, which is read when somebody asks for the IR: here it is seen that it can be.
fn text_of(module: &Module) -> Result<String, String> {
    let text = encode_module(module);
    match parse_module(&text) {
        Ok(read) if encode_module(&read) == text => Ok(text),
        Ok(_) => Err(format!("the IR of `{}` isn't what its text says", module.entry)),
        Err(wrong) => Err(format!("the IR of `{}` has no text: {wrong}", module.entry)),
    }
}
/// Types for the type parameters, with which a struct's definition can be asked for: it doesn't
/// depend on them.
pub fn aliases(generics: &[Generic]) -> TokenStream {
    use rev_compiler::ir::Class;
    generics
        .iter()
        .map(|g| {
            let name = ident(&g.name);
            match &g.kind {
                GenericKind::Scalar(Class::Integer) => quote!(type #name = i64;),
                GenericKind::Scalar(Class::Scalar | Class::Ring | Class::Field | Class::Real) => {
                    quote!(type #name = f64;)
                }
                GenericKind::Const => {
                    quote!(const #name: usize = 1;)
                }
                GenericKind::Function(_) => TokenStream::new(),
            }
        })
        .collect()
}
