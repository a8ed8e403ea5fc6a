//! Recursion by value: programs without references and errors, for functions that need neither.
//!
//! A program takes what it writes by reference and says whether it failed, so that a recursion keeps its
//! sums in memory and tests something after each call. Where all parameters are scalars and nothing can
//! fail without checks, the forward program and the inverse have a second form, which takes values and
//! returns those that are written. It calls nothing but itself and the other one of the two; the program
//! without checks, and with them where they would ask nothing, is then a call of it.
//!
//! Where checks ask for postconditions there is such a form with them too. What it finds wrong unwinds, and the program runs
//! again by reference from the arguments, which nobody has changed yet, so that the error says what it always does.
//!
//! One more argument counts the calls for which there surely is stack, down to none; the runtime has more of them
//! (`rev_cpu::recursion`).
//!
//! Whether something can fail isn't decided by a second set of rules: the statements are emitted, and a
//! form that asked for an error without checks, for the context or for code of another kind is dropped.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::ir::{Arg, ArgValue, Callee, Direction, Function, Mode};
use rev_compiler::plan::{has_fused_product_outside, Program};
use syn::Path;

use super::body::{Body, Repr, Scope};
use super::expr::Reach;
use super::names::ident;
use super::recursion::frame;
use super::signature::Signature;

/// The programs of a function by value.
#[derive(Default)]
pub struct ByValue {
    /// The associated functions.
    pub functions: TokenStream,
    /// The calls of those without checks, forward and inverse.
    free: [Option<TokenStream>; 2],
    /// The same with checks, where these ask something.
    checked: [Option<TokenStream>; 2],
}

/// A program that is being emitted by value.
pub struct Recursion<'a> {
    name: &'a Ident,
    params: &'a [Mode],
    checked: bool,
    calls_forward: bool,
    calls_inverse: bool,
    impossible: bool,
}

/// One program by value: its function, the statement that returns what it gives, what it calls.
struct Emitted {
    function: TokenStream,
    call: TokenStream,
    calls_itself: bool,
    calls_other: bool,
}

impl ByValue {
    /// The programs by value of a function of a name, from its forward program and its inverse.
    pub fn of(
        scope: &Scope,
        signature: &Signature,
        name: &Ident,
        forward: &Program,
        inverse: &Program,
    ) -> ByValue {
        let free = pair([forward, inverse].map(|plan| {
            let function = plan.variants.as_ref()?.by_value.as_ref()?;
            emitted(scope, signature, name, function, (plan.direction, false))
        }));
        let checked = pair([(forward, &free[0]), (inverse, &free[1])].map(|(plan, free)| {
            let all = &plan.variants.as_ref().filter(|_| free.is_some())?.all;
            let asks = all.asks().then(|| all.checked())?;
            emitted(scope, signature, name, asks, (plan.direction, true))
        }));
        let functions = free.iter().chain(&checked).flatten().map(|x| &x.function);
        let functions = quote!(#(#functions)*);
        let [free, checked] = [free, checked].map(|both| both.map(|x| x.map(|x| x.call)));
        ByValue { functions, free, checked }
    }

    /// What a direction's program does first where it runs by value: it returns what that gives. `asks`: whether checks
    /// ask anything.
    pub fn statements(&self, direction: Direction, asks: bool, p: &TokenStream) -> TokenStream {
        let of = |calls: &[Option<TokenStream>; 2]| match direction {
            Direction::FORWARD => calls[0].clone(),
            Direction::INVERSE => calls[1].clone(),
            Direction { .. } => None,
        };
        let calls = match (of(&self.free), of(&self.checked)) {
            (None, _) => return TokenStream::new(),
            (Some(free), _) if !asks => free,
            (Some(free), None) => quote!(if !__cx.checks() { #free }),
            (Some(free), Some(checked)) => quote!(if __cx.checks() { #checked } else { #free }),
        };
        quote! {
            let __cx = if #p::recursion::BY_VALUE && !__cx.is_by_reference() {
                #calls
                __cx.by_reference()
            } else {
                __cx
            };
        }
    }
}

/// The two programs, without those that call one that there isn't; none where nothing is recursive.
fn pair(programs: [Option<Emitted>; 2]) -> [Option<Emitted>; 2] {
    let recursive = |x: &Option<Emitted>| x.as_ref().is_some_and(|x| x.calls_itself || x.calls_other);
    if !programs.iter().any(recursive) {
        return [None, None];
    }
    let both = programs.iter().all(Option::is_some);
    programs.map(|x| x.filter(|x| both || !x.calls_other))
}

/// A program by value, `None` where something in it can fail.
fn emitted(
    scope: &Scope,
    signature: &Signature,
    name: &Ident,
    function: &Function,
    (direction, checked): (Direction, bool),
) -> Option<Emitted> {
    let params: Vec<Mode> = signature.params.iter().map(|x| x.mode).collect();
    let mut body = Body::new(scope, function);
    body.recursion = Some(Recursion {
        name,
        params: &params,
        checked,
        calls_forward: false,
        calls_inverse: false,
        impossible: function.body.iter().any(has_fused_product_outside),
    });
    let (mut inputs, mut names) = (Vec::new(), Vec::new());
    let (mut types, mut written, mut targets, mut values) = (vec![], vec![], vec![], vec![]);
    for (&var, param) in function.params.iter().zip(&signature.params) {
        let (name, ty) = (body.name(var), &param.ty);
        values.push(quote!(*#name));
        names.push(quote!(#name));
        if param.mode == Mode::Read {
            body.set(var, Repr::Value);
            inputs.push(quote!(#name: #ty));
        } else {
            body.set(var, Repr::Owned);
            inputs.push(quote!(mut #name: #ty));
            targets.push(quote!(*#name));
            types.push(quote!(#ty));
            written.push(quote!(#name));
        }
    }
    let statements = body.block(&function.body);
    let found = body.recursion.filter(|found| !found.impossible)?;
    let (p, program, frame) = (scope.p, program_name(direction, checked), frame(function));
    let (declared, conditions, given) = (signature.declared(), signature.conditions(), signature.given());
    let (types, written, targets) = (several(&types), several(&written), several(&targets));
    let (calls_itself, calls_other) = match direction.inverse {
        false => (found.calls_forward, found.calls_inverse),
        true => (found.calls_inverse, found.calls_forward),
    };
    Some(Emitted {
        // not `#[inline]`, as all others are: a recursion needn't be compiled in every crate that calls it
        function: quote! {
            fn #program<#declared>(#(#inputs,)* __left: usize) -> #types #conditions {
                if __left == 0 {
                    return #p::recursion::more_calls(
                        #frame,
                        #[cold]
                        move |__left| Self::#program::<#given>(#(#names,)* __left),
                    );
                }
                let __left = __left - 1;
                #statements
                #written
            }
        },
        call: quote! {
            if let __Some(__values) = #p::recursion::by_value(__cx, #frame, |__left| {
                Self::#program::<#given>(#(#values,)* __left)
            }) {
                #targets = __values;
                return __Ok(());
            }
        },
        calls_itself,
        calls_other,
    })
}

impl Body<'_> {
    /// A call where the program is emitted by value, `None` where it isn't.
    pub fn call_by_value(
        &mut self,
        callee: &Callee,
        direction: Direction,
        args: &[Arg],
    ) -> Option<TokenStream> {
        let recursion = self.recursion.as_mut()?;
        let Callee::Path(text) = callee else { return None };
        let modes = || args.iter().map(|a| a.mode == Mode::Read);
        let known = self.source.callees.get(text).is_some_and(|path| names(path, recursion.name));
        let other = recursion.checked != self.around.checked;
        if !known
            || other
            || direction.adjoint > 0
            || !modes().eq(recursion.params.iter().map(|m| *m == Mode::Read))
        {
            return None;
        }
        match direction.inverse {
            false => recursion.calls_forward = true,
            true => recursion.calls_inverse = true,
        }
        let values: Vec<_> = args
            .iter()
            .map(|arg| match &arg.value {
                ArgValue::Place(place) => self.value(place),
                ArgValue::Expr(e) => self.expr(e),
            })
            .collect();
        let targets: Vec<_> = args
            .iter()
            .filter(|arg| arg.mode != Mode::Read)
            .filter_map(|arg| match &arg.value {
                ArgValue::Place(place) => Some(self.place(place, Reach::Write)),
                ArgValue::Expr(_) => None,
            })
            .collect();
        let checked = self.around.checked;
        let (program, targets) = (program_name(direction, checked), several(&targets));
        let (_, given) = self.callee_generics(text, direction);
        let given = given.map(|args| quote!(::<#args>));
        Some(quote!(#targets = Self::#program #given (#(#values,)* __left);))
    }

    /// What leaves a program by value where a check fails.
    pub fn fails_by_value(&mut self) -> Option<TokenStream> {
        let p = self.p;
        self.recursion.as_ref().filter(|recursion| recursion.checked).map(|_| quote!(#p::recursion::fail()))
    }

    /// What stands here has no place in a program by value.
    pub fn only_by_reference(&mut self) {
        if let Some(recursion) = &mut self.recursion {
            recursion.impossible = true;
        }
    }
}

/// Whether a path is a function's own name, with or without generic arguments.
fn names(path: &Path, name: &Ident) -> bool {
    path.leading_colon.is_none() && path.segments.len() == 1 && path.segments[0].ident == *name
}

fn program_name(direction: Direction, checked: bool) -> Ident {
    let name = if direction.inverse { "__inverse_by_value" } else { "__forward_by_value" };
    ident(&format!("{name}{}", if checked { "_checked" } else { "" }))
}

/// One thing or a tuple of several.
fn several(things: &[TokenStream]) -> TokenStream {
    match things {
        [one] => one.clone(),
        several => quote!((#(#several),*)),
    }
}
