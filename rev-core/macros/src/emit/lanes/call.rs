//! Calls of reversible functions for several iterations at once.

use proc_macro2::TokenStream;
use quote::quote;
use rev_compiler::ir::{
    Arg, ArgValue, Axis, Callee, Direction, Expr, ExprKind, FunctionPath, Mode, Place, Step,
};
use rev_compiler::plan::is_own_part;

use super::super::body::{Body, Repr};
use super::super::call::{of_callee, program_name};
use super::super::expr::Reach;
use super::super::names::ident;
use super::place::Spot;
use super::Kind;

/// The code of an argument: what comes before the call, what is passed, and what comes after it.
#[derive(Default)]
struct Passed {
    before: TokenStream,
    arg: TokenStream,
    after: TokenStream,
    /// For an argument that isn't an array common to all lanes: the pack, and whether it is written.
    pack: Option<(TokenStream, bool)>,
    /// Whether it is a fixed-size array, for which the function may take an array common to all lanes.
    fixed: bool,
    /// Whether it is a part of an array that each lane has another one of: `arg` is lane `__k`'s.
    own: bool,
}

impl Body<'_> {
    /// A call of the program that a function has for lanes, or of its program for one iteration, for one
    /// lane after the other.
    pub fn lane_call(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) -> TokenStream {
        let apart = self.lane_overlap_checks(args);
        let passed: Vec<Passed> = args.iter().map(|arg| self.lane_argument(arg)).collect();
        let before = passed.iter().map(|x| &x.before);
        let after = passed.iter().map(|x| &x.after);
        let call = match callee {
            Callee::Path(text) if passed.iter().any(|x| x.own) => {
                self.call_one_by_one(text, direction, &passed)
            }
            Callee::Path(text) if passed.iter().any(|x| x.fixed) => self.lent_call(text, direction, &passed),
            Callee::Path(text) => {
                let args = passed.iter().map(|x| &x.arg);
                let call = self.lanes_call(text, direction, &args.collect::<Vec<_>>());
                self.succeeding(&call)
            }
            Callee::Param(_) => self.defect("a call of a parameter in lanes"),
        };
        quote!({
            #apart
            #(#before)*
            #call
            #(#after)*
        })
    }

    /// A call that leaves the program with an error where it fails.
    fn succeeding(&mut self, call: &TokenStream) -> TokenStream {
        let (p, first) = (self.p, self.told());
        let failure = self.failing_at(quote!(__lane), |at| quote!(#p::fail::called(#at, __e)));
        quote!(if let __Err(__e) = #call {
            let __lane = __e.lane().unwrap_or_else(|| #first);
            #failure
        })
    }

    /// The call of the program for lanes.
    fn lanes_call(
        &mut self,
        text: &FunctionPath,
        direction: Direction,
        args: &[&TokenStream],
    ) -> TokenStream {
        let (p, cx, mask) = (self.p, self.context(direction), self.mask());
        let width = (direction.adjoint > 0).then(|| quote!(#p::Width::<__N>,));
        let program = lane_program_name(of_callee(text, direction));
        let (path, generics) = self.lane_callee_path(text, direction);
        quote!(#path.#program #generics (__s, #mask, #cx, #width #(#args),*))
    }

    /// The call of the program for lanes, or where it takes a fixed-size array as one that is common to
    /// all lanes, of the program for one iteration, for one lane after the other.
    fn lent_call(&mut self, text: &FunctionPath, direction: Direction, passed: &[Passed]) -> TokenStream {
        let (mut lent, mut args) = (TokenStream::new(), Vec::new());
        for x in passed {
            let arg = &x.arg;
            if x.fixed {
                let name = self.fresh("lent");
                lent.extend(quote!(let #name = __l::Lend::lend(#arg, &mut __laned);));
                args.push(quote!(#name));
            } else {
                args.push(arg.clone());
            }
        }
        let laned = self.lanes_call(text, direction, &args.iter().collect::<Vec<_>>());
        let all = self.succeeding(&laned);
        let each = self.call_one_by_one(text, direction, passed);
        quote!({
            let mut __laned = true;
            {
                #lent
                if __laned { #all }
            }
            if !__laned { #each }
        })
    }

    /// The call of the program for one iteration, for one lane after the other.
    fn call_one_by_one(
        &mut self,
        text: &FunctionPath,
        direction: Direction,
        passed: &[Passed],
    ) -> TokenStream {
        let (p, cx, mask) = (self.p, self.context(direction), self.mask());
        let (mut taken, mut args, mut back) = (TokenStream::new(), Vec::new(), TokenStream::new());
        for x in passed {
            let Some((pack, written)) = &x.pack else {
                args.push(x.arg.clone());
                continue;
            };
            let one = self.fresh("one");
            taken.extend(quote!(let mut #one = __l::get(&#pack, __k);));
            let reference = if *written { quote!(&mut #one) } else { quote!(&#one) };
            args.push(if x.fixed { quote!(#p::Pass::pass(#reference)) } else { reference });
            if *written {
                back.extend(quote!(__l::set(&mut #pack, __k, #one);));
            }
        }
        let width = (direction.adjoint > 0).then(|| quote!(#p::Width::<__N>,));
        let program = program_name(of_callee(text, direction));
        let (path, generics) = self.callee_path(text, direction);
        let failure = self.failing_at(quote!(__k), |at| quote!(#p::fail::called(#at, __e)));
        quote!(for __k in __l::active(__s, #mask) {
            #taken
            if let __Err(__e) = #path.#program #generics (#cx, #width #(#args),*) {
                #failure
            }
            #back
        })
    }

    fn lane_callee_path(&self, text: &FunctionPath, direction: Direction) -> (TokenStream, TokenStream) {
        let (path, given) = self.callee_generics(text, direction);
        let width = (direction.adjoint > 0).then(|| quote!(, __N));
        (path, given.map(|args| quote!(::<#args _, _, _ #width>)).unwrap_or_default())
    }

    fn lane_argument(&mut self, arg: &Arg) -> Passed {
        match &arg.value {
            ArgValue::Place(place) => self.lane_place_argument(place, arg.mode),
            ArgValue::Expr(Expr { kind: ExprKind::Read(place), .. }) => {
                self.lane_place_argument(place, Mode::Read)
            }
            ArgValue::Expr(e) if self.varies(e) => {
                let value = self.pack(e);
                self.held_argument(value, false)
            }
            ArgValue::Expr(e) => {
                let value = self.expr(e);
                self.held_argument(value, true)
            }
        }
    }

    /// A value that is only read: a pack, or one that is `uniform`.
    fn held_argument(&mut self, value: TokenStream, uniform: bool) -> Passed {
        let name = self.fresh("arg");
        let value = if uniform { quote!(__l::Uniform::new(__s, #value)) } else { value };
        Passed {
            before: quote!(let #name = #value;),
            arg: quote!(&#name),
            pack: Some((if uniform { quote!(*#name) } else { quote!(#name) }, false)),
            ..Passed::default()
        }
    }

    fn lane_place_argument(&mut self, place: &Place, mode: Mode) -> Passed {
        if self.lane.as_ref().is_some_and(|lane| is_own_part(&lane.varying, place)) {
            return self.own_part(place, mode);
        }
        if self.is_array(place) {
            let arg = self.place_argument(place, mode);
            return Passed { arg, ..Passed::default() };
        }
        let fixed = self.function.type_at(place).is_some_and(|ty| ty.is_fixed());
        let whole = place.path.is_empty() && self.kind(place.var) == Kind::Pack;
        if whole {
            let name = self.name(place.var);
            let held = match self.repr(place.var) {
                Repr::Ref | Repr::Mut => quote!((*#name)),
                Repr::Value | Repr::Owned | Repr::Handle | Repr::Function => quote!(#name),
            };
            let written = mode != Mode::Read;
            let arg = if written { quote!(&mut #held) } else { quote!(&#held) };
            let after = if written { self.lane_see(place.var, &held) } else { TokenStream::new() };
            return Passed { arg, after, pack: Some((held, written)), fixed, ..Passed::default() };
        }
        if mode == Mode::Read {
            if !fixed && matches!(self.spot(place, Reach::Read), Spot::One) {
                let value = self.value(place);
                return self.held_argument(value, true);
            }
            let value = self.lane_value(place);
            return Passed { fixed, ..self.held_argument(value, false) };
        }
        let name = self.fresh("arg");
        let arg = quote!(&mut #name);
        let pack = Some((quote!(#name), true));
        let outside = !self.is_own(place.var);
        let one = matches!(self.spot(place, Reach::Write), Spot::One);
        if outside && (one || self.is_shared(place) || self.around.atomic.contains(&place.var)) {
            // what the call adds to zero is added to the place, where several lanes may have one
            let before = quote!(let mut #name = __l::zero(__s););
            let after = self.lane_sum(place, &name);
            return Passed { before, arg, after, pack, fixed, own: false };
        }
        let value = self.lane_value(place);
        let before = quote!(let mut #name = #value;);
        let after = self.through(place, false, |_, part| quote!(#part = #name;));
        Passed { before, arg, after, pack, fixed, own: false }
    }

    /// A part of an array of which lane `__k` has its own.
    fn own_part(&mut self, place: &Place, mode: Mode) -> Passed {
        let p = self.p;
        let exprs: Vec<Expr> = place.indices().cloned().collect();
        let (before, names) = self.lane_index(&exprs);
        let mut names = names.into_iter().map(|name| quote!(__l::Index::at(#name, __k)));
        let mut next = || names.next().unwrap_or_default();
        let axes = match place.path.first() {
            Some(Step::Part(axes)) => axes.as_slice(),
            _ => &[],
        };
        let taken = axes.iter().map(|axis| match axis {
            Axis::At(_) => {
                let i = next();
                quote!(#p::Taken::At(#i))
            }
            Axis::Range(..) => {
                let (from, to) = (next(), next());
                quote!(#p::Taken::Range(#from, #to))
            }
            Axis::Whole => quote!(#p::Taken::Whole),
        });
        let taken: Vec<TokenStream> = taken.collect();
        let reach = if mode == Mode::Read { Reach::Read } else { Reach::Write };
        let array = self.place(&Place::var(place.var), reach);
        let array = self.handle_of(array, place, 0, reach);
        let part = self.part_of(array, &taken, place, &TokenStream::new(), Some(quote!(__k)));
        let arg = match mode {
            Mode::Read => quote!(#p::Pass::pass(#part.share())),
            Mode::Write | Mode::Accumulate => quote!(#p::Pass::pass(#part)),
        };
        Passed { before, arg, own: true, ..Passed::default() }
    }

    /// Adds what a call has left in a pack to the place that it stands for.
    fn lane_sum(&mut self, place: &Place, name: &proc_macro2::Ident) -> TokenStream {
        match self.spot(place, Reach::Write) {
            Spot::One => {
                let mask = self.mask();
                self.add_sum(place, false, &quote!(__l::sum(__s, #mask, &#name)))
            }
            Spot::Chosen(chosen) if chosen.is_plain(place) => {
                self.add_each(&chosen, false, &quote!(#name), place)
            }
            Spot::Chosen(_) | Spot::Held(_) => self.through(place, true, |body, part| {
                let mask = body.mask();
                quote!(__l::update::add(__s, #mask, &mut #part, #name);)
            }),
        }
    }
}

/// The name of the program that lanes call.
pub fn lane_program_name(direction: Direction) -> proc_macro2::Ident {
    ident(&format!("{}_lanes", program_name(direction)))
}
