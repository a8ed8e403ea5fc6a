//! The body of one program while it is being emitted: how each variable is held, which loops are
//! around, whether checks are made.

use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use rev_compiler::check::overlap::{overlap, Overlap};
use rev_compiler::diag::defect;
use rev_compiler::ir::{
    has_external, Block, Direction, Expr, Function, FunctionPath, Place, Span, Step, Type, VarId,
};
use rev_compiler::pass::{Erased, Restores};
use rev_compiler::plan;

use super::by_value::Recursion;
use super::call::bare_callee;
use super::callee::{programs, Kind};
use super::lanes::{self, Lane};
use super::names::{ident, ident_at};
use super::pure::{pure_lane_program, pure_program};
use super::sites::{Quotes, Sites};
use super::types::rust_type;
use crate::diagnostic::compile_errors;
use crate::model::Source;
use crate::spans::Spans;

/// How a variable is held in the emitted code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Repr {
    /// A value that doesn't change: bindings, loop variables, scalar arguments that are read.
    Value,
    /// A local variable that changes.
    Owned,
    /// `&P`
    Ref,
    /// `&mut P`
    Mut,
    /// A handle to an array.
    Handle,
    /// A reversible function.
    Function,
}

/// A loop around a statement.
#[derive(Clone)]
pub enum Around {
    /// With its variable.
    For(VarId),
    /// With the variable of the emitted code that counts its iterations.
    While(Ident),
}

/// What all programs of a function share.
pub struct Scope<'a> {
    /// The path of the runtime's module: `::rev::__private`.
    pub p: &'a TokenStream,
    /// The source's spelling of paths and external blocks.
    pub source: &'a Source,
    /// The source's statements.
    pub quotes: &'a Quotes,
    /// Those that errors tell of.
    pub sites: &'a RefCell<Sites>,
    /// Whether the program is generic over the number `__N` of shadows side by side.
    pub sided: bool,
}

/// The body of one program.
pub struct Body<'a> {
    /// The path of the runtime's module.
    pub p: &'a TokenStream,
    /// The program.
    pub function: &'a Function,
    /// The source's spelling.
    pub source: &'a Source,
    /// Whether this is a pure function, which fails without saying where.
    pub pure: bool,
    /// Whether scopes are written with braces: where Rust text stands in the program, which sees all names around it.
    pub braces: bool,
    /// What stands around the statements that are being emitted.
    pub around: plan::Around,
    /// The loops around, outermost first.
    pub loops: Vec<Around>,
    /// Ancillas whose largest magnitude is recorded for their release.
    pub held: BTreeSet<VarId>,
    /// Ancillas that start as the product with which they are updated first.
    pub started: BTreeSet<VarId>,
    /// Variables of types that only rustc knows, which are shaped like a field, so that they may be arrays.
    pub shaped: BTreeSet<VarId>,
    /// Elements that have handles of their own: inside a loop all of whose iterations accumulate
    /// into the same one.
    pub lent: Vec<(Place, Ident)>,
    /// Fields that are lent to variables here.
    pub loans: Vec<(Place, VarId)>,
    /// The elements that an iteration has claimed by here, by indices that don't change.
    pub taken: Vec<Place>,
    /// Angles whose sines and cosines have been computed, with their name.
    pub angles: Vec<(Expr, Ident)>,
    /// What is known about the lanes, where statements are emitted for several iterations at once.
    pub lane: Option<Lane>,
    /// What is found out about the program, where it is emitted by value.
    pub recursion: Option<Recursion<'a>>,
    /// Calls of adjoints whose restored state nobody reads.
    pub forgetful: Option<&'a Erased>,
    /// What may overlap at run time.
    pub values: rev_compiler::check::overlap::Values<'a>,
    quotes: &'a Quotes,
    sites: &'a RefCell<Sites>,
    /// Whether the program is generic over the number `__N` of shadows side by side.
    pub sided: bool,
    site: Span,
    /// Whether the innermost loop's name for places is used.
    told_of: bool,
    reprs: BTreeMap<VarId, Repr>,
}

impl<'a> Body<'a> {
    /// An empty body of a program.
    pub fn new(scope: &Scope<'a>, function: &'a Function) -> Body<'a> {
        Body {
            p: scope.p,
            function,
            source: scope.source,
            pure: false,
            braces: has_external(&function.body),
            around: plan::Around::of(function),
            loops: Vec::new(),
            held: BTreeSet::new(),
            started: BTreeSet::new(),
            shaped: BTreeSet::new(),
            lent: Vec::new(),
            loans: Vec::new(),
            taken: Vec::new(),
            angles: Vec::new(),
            lane: None,
            recursion: None,
            forgetful: None,
            values: rev_compiler::check::overlap::Values::of(function),
            quotes: scope.quotes,
            sites: scope.sites,
            sided: scope.sided,
            site: function.span,
            told_of: false,
            reprs: BTreeMap::new(),
        }
    }

    /// What can't be, whatever the program is: an error of the compiler at the statement, in place of code.
    pub fn defect(&self, what: &str) -> TokenStream {
        compile_errors(defect(self.site, what).into(), &self.source.spans)
    }

    /// The statements, with the name that errors give the program.
    pub fn finish(mut self, block: &Block) -> TokenStream {
        let name = &self.function.name;
        if !self.function.defects.is_empty() {
            return compile_errors(self.function.defects.clone(), &self.source.spans);
        }
        let statements = self.block(block);
        quote! {
            const __FUNCTION: &str = #name;
            #statements
        }
    }

    /// The scope of a name, which is written without braces: names are unique in a function, and a scope that reaches
    /// further than it has to means the same. So a thousand names are a thousand lines, and not as many levels.
    pub fn scope(&self, code: TokenStream) -> TokenStream {
        match self.braces {
            true => quote!({ #code }),
            false => code,
        }
    }

    /// Sets how a variable is held from here on.
    pub fn set(&mut self, var: VarId, repr: Repr) {
        self.reprs.insert(var, repr);
    }

    /// How a variable is held.
    pub fn repr(&self, var: VarId) -> Repr {
        self.reprs.get(&var).copied().unwrap_or(Repr::Value)
    }

    /// The handle of the element of an array with which the path of a place begins, where it has
    /// one of its own.
    pub fn lent_element(&self, place: &Place) -> Option<Ident> {
        let [index @ Step::Index(_), ..] = place.path.as_slice() else { return None };
        let head = Place { path: vec![index.clone()], ..place.clone() };
        let is = |element: &Place| overlap(element, &head, &self.values) == Overlap::Equal;
        self.lent.iter().rev().find(|(element, _)| is(element)).map(|(_, name)| name.clone())
    }

    /// Emits with some variables held otherwise.
    pub fn holding<R>(&mut self, reprs: &[(VarId, Repr)], emit: impl FnOnce(&mut Self) -> R) -> R {
        let before = self.reprs.clone();
        self.reprs.extend(reprs.iter().copied());
        let out = emit(self);
        self.reprs = before;
        out
    }

    /// The name of a variable.
    pub fn name(&self, var: VarId) -> Ident {
        if self.source.tables.contains_key(&var) {
            // a pattern of the constant's own name would be the constant
            return self.companion("table", var);
        }
        let var = self.function.var(var);
        ident_at(&var.name, self.source.spans.span(var.span))
    }

    /// A second name that belongs to a variable.
    pub fn companion(&self, prefix: &str, var: VarId) -> Ident {
        ident(&format!("__{prefix}_{}", self.function.var(var).name.trim_start_matches("r#")))
    }

    /// The names of a loop's claims on an array, and of the mark of an iteration.
    pub fn claim_names(&self, array: VarId, index: VarId) -> [Ident; 2] {
        ["claims", "mark"].map(|prefix| ident(&format!("__{prefix}{}_{}", array.0, index.0)))
    }

    /// `: T` where the type of a variable is known.
    pub fn annotation(&self, var: VarId) -> Option<TokenStream> {
        let ty = &self.function.var(var).ty;
        let known = match self.source.annotations.get(&var) {
            Some(written) if !matches!(ty, Type::Array(..)) => Some(quote!(#written)),
            Some(_) | None => rust_type(ty, self.p),
        };
        known.map(|t| quote!(: #t))
    }

    /// Stands at a statement from here on.
    pub fn stand_at(&mut self, span: Span) {
        if span.is_some() {
            self.site = span;
        }
    }

    /// The statement at which the program stands.
    pub fn standing(&self) -> Span {
        self.site
    }

    /// Where the program stands, as an argument for the functions that make errors.
    pub fn at(&mut self) -> TokenStream {
        let p = self.p;
        let names = self.loops.iter().map(|around| match around {
            Around::For(v) => self.function.var(*v).name.as_str(),
            Around::While(_) => "while",
        });
        let site = self.sites.borrow_mut().number(self.site, names.collect(), self.quotes, p);
        let site = Literal::usize_unsuffixed(site);
        if !self.names_places() {
            let numbers = self.loop_numbers();
            return quote!(&__SITES[#site].at(__FUNCTION, [#(#numbers),*]));
        }
        self.told_of = true;
        match &self.lane {
            Some(_) => {
                let lane = self.told();
                quote!(&__at(#site, #lane))
            }
            None => quote!(&__at(#site)),
        }
    }

    /// The numbers of the loops around, for messages.
    fn loop_numbers(&self) -> Vec<TokenStream> {
        let p = self.p;
        let number = |around: &Around| match around {
            Around::For(v) => self.lane_number(*v),
            Around::While(count) => quote!(#count),
        };
        self.loops.iter().map(number).map(|number| quote!(#p::number(#number))).collect()
    }

    /// Whether the loop that is the innermost one has a name for what makes places of numbers of sites. What it captures
    /// it copies, which nobody should do with packs.
    fn names_places(&self) -> bool {
        let pack = |around: &Around| matches!(around, Around::For(v) if self.kind(*v) == lanes::Kind::Pack);
        !self.loops.is_empty() && !self.loops.iter().any(pack)
    }

    /// Emits the body of a loop, with a name for what makes places of numbers of sites, which errors need.
    pub fn in_loop(&mut self, around: Around, emit: impl FnOnce(&mut Self) -> TokenStream) -> TokenStream {
        let (p, outside) = (self.p, std::mem::take(&mut self.told_of));
        self.loops.push(around);
        let numbers = self.about_lane(quote!(__lane), |b| b.loop_numbers());
        let body = emit(self);
        self.loops.pop();
        if !std::mem::replace(&mut self.told_of, outside) {
            return body;
        }
        let lane = self.lane.as_ref().map(|_| quote!(, __lane: usize));
        quote! {
            let __at = #p::fail::named(
                #[inline(always)] move |__k: usize #lane| __SITES[__k].at(__FUNCTION, [#(#numbers),*])
            );
            #body
        }
    }

    /// Leaves the program with an error, made by `make` from where the program stands.
    pub fn fail(&mut self, make: impl FnOnce(TokenStream) -> TokenStream) -> TokenStream {
        if let Some(failure) = self.fails_by_value() {
            return failure;
        }
        self.only_by_reference();
        if self.pure {
            return match &self.lane {
                Some(_) => {
                    let lane = self.told();
                    quote!(return __Err(#lane))
                }
                None => quote!(return __None),
            };
        }
        let at = self.at();
        let error = make(at);
        let error = self.about_told(error);
        quote!(return __Err(#error))
    }

    /// A place as messages show it.
    pub fn show(&self, place: &Place) -> String {
        let quoted = if place.span.is_some() { self.quotes.line(place.span) } else { String::new() };
        if quoted.is_empty() {
            self.function.var(place.var).name.clone()
        } else {
            quoted
        }
    }

    /// An expression as messages show it.
    pub fn quote(&self, span: Span) -> String {
        self.quotes.line(span)
    }

    /// Code that runs only where checks are on.
    pub fn if_checked(&self, code: TokenStream) -> TokenStream {
        match (self.around.checked, &self.recursion) {
            (false, _) => TokenStream::new(),
            // of which there is one with checks and one without
            (true, Some(_)) => code,
            (true, None) => quote!(if __cx.checks() { #code }),
        }
    }

    /// The context that a call passes on.
    pub fn context(&mut self, direction: Direction) -> TokenStream {
        self.only_by_reference();
        let called = |erased: &Erased| match direction.adjoint {
            0 => Restores::Always,
            _ => erased.restores(self.site),
        };
        let checks = if self.around.checked { TokenStream::new() } else { quote!(.unchecked()) };
        match self.forgetful.map_or(Restores::Always, called) {
            Restores::Always => quote!(__cx #checks.restoring()),
            Restores::AsCaller => quote!(__cx #checks),
            Restores::Never => quote!(__cx #checks.forgetful()),
        }
    }

    /// The program of the pure function at a path, of which so many partial derivatives more are meant, to be called with
    /// arguments; the one for lanes, to be called with them and the arguments before them.
    pub fn pure_program(&self, path: &FunctionPath, partials: usize, in_lanes: bool) -> TokenStream {
        let (path, taken) = path.taken_partials();
        let order = taken + partials;
        let name = if in_lanes { pure_lane_program(order) } else { pure_program(order) };
        let of_lanes = in_lanes.then(|| quote!(_, _));
        match self.source.pures.get(path) {
            Some(written) => {
                let given = written.segments.last().map(|s| &s.arguments);
                let given = match given {
                    Some(syn::PathArguments::AngleBracketed(a)) => {
                        let args = a.args.iter();
                        quote!(::<#(#args,)* #of_lanes>)
                    }
                    _ => TokenStream::new(),
                };
                let path = programs(self.p, self.source, written, Kind::Pure(order));
                quote!(#path.#name #given)
            }
            None => {
                let path = parsed(path);
                quote!(#path.#name)
            }
        }
    }

    /// The path of a constant.
    pub fn constant_path(&self, path: &str) -> TokenStream {
        match self.source.constants.get(path) {
            Some(written) => quote!(#written),
            None => parsed(path),
        }
    }

    /// The value of a reversible function by its path, also where its adjoint is meant.
    pub fn function_value(&self, path: &FunctionPath) -> TokenStream {
        let path = bare_callee(path);
        match self.source.functions.get(&*path) {
            Some(written) => programs(self.p, self.source, written, Kind::Reversible),
            None => parsed(path.as_str()),
        }
    }
}

/// A path or a number as it is written.
pub fn parsed(text: &str) -> TokenStream {
    let refused = |_| {
        let what = defect(Span::NONE, format!("`{text}` isn't Rust"));
        compile_errors(what.into(), &Spans::default())
    };
    text.parse().unwrap_or_else(refused)
}
