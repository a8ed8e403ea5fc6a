//! Parallel loops as they are planned: the closure that runs a part of the iterations, and what it takes along.
//!
//! Outside the closure every variable that the body uses becomes something that tasks can share: a
//! copy of a scalar, a shared reference, a handle. What iterations accumulate into becomes a target,
//! which the closure gets back as its task's own copy, or as the target itself where one task runs
//! the whole loop. Inside the closure the variables have their names again.

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::facts::Sum;
use rev_compiler::ir::{Axis, Block, Parallel, Place, Range, Step, Stmt, Type, VarId};
use rev_compiler::plan::{
    adds_by_field, is_plain, sums_in_order, Adds, Claims, Lanes, Loop, Role, SumInOrder, Take, Width,
};

use super::body::{Body, Repr};
use super::expr::Reach;
use super::lanes::Lane;
use super::names::ident;

/// The code around and at the head of the closure.
#[derive(Default)]
struct Frame {
    /// Before the loop: names for what the closure takes along.
    before: TokenStream,
    /// The targets, and the patterns that take them apart again.
    targets: Vec<(TokenStream, TokenStream)>,
    /// Those of them that tasks may add to at once.
    scattered: Vec<(TokenStream, TokenStream)>,
    /// At the head of the closure.
    head: TokenStream,
    /// How the variables are held inside.
    reprs: Vec<(VarId, Repr)>,
    /// Elements behind references of their own.
    lent: Vec<(Place, Ident)>,
    /// Arrays of which the iterations claim elements.
    claimed: Vec<VarId>,
}

impl Body<'_> {
    /// A loop whose iterations may run in any order.
    pub fn parallel_loop(
        &mut self,
        stmt: &Stmt,
        var: VarId,
        range: &Range,
        declared: &Parallel,
        body: &Block,
    ) -> TokenStream {
        match Loop::of(self.function, &self.values, &self.around, stmt) {
            Some(plan) => self.tasks(&plan, range, declared, body),
            None => {
                let sums = sums_in_order(self.function, &self.values, &self.around, stmt);
                self.in_order(&sums, var, range, body)
            }
        }
    }

    /// A loop whose iterations run in order, with its sums.
    fn in_order(&mut self, sums: &[SumInOrder], var: VarId, range: &Range, body: &Block) -> TokenStream {
        if sums.is_empty() {
            return self.for_loop(var, range, body);
        }
        self.only_by_reference();
        let p = self.p;
        let targets = sums.iter().rev().fold(quote!(()), |others, sum| {
            let by = match (&self.function.var(sum.place.var).ty, sum.place.path.is_empty()) {
                (Type::Shadow(_), _) | (_, true) => self.combination(sum.place.var, Sum::Add, sum.touched),
                // its type isn't known
                (_, false) => combined(p, "Fields", sum.touched),
            };
            let place = self.place(&sum.place, Reach::Write);
            let target = match self.is_array(&sum.place) {
                true => place,
                false => quote!(#p::Single::new(&mut #place)),
            };
            quote!((#p::parallel::By(#by, #target), #others))
        });
        let (values, name) = (self.range(var, range), self.name(var));
        let body = self.loop_body(var, body);
        quote!({
            let mut __sums = #p::parallel::SumsInOrder::new(__cx);
            let __loop = #p::parallel::as_one(|| {
                for #name in #values {
                    if __sums.are_at_leaf() {
                        __sums.begin_leaf(__cx, #targets)?;
                    }
                    #body
                }
                __Ok(())
            });
            if __sums.have_begun() {
                __sums.finish(__cx, #targets);
            }
            if let __Err(__e) = __loop {
                return __Err(__e);
            }
        })
    }

    fn tasks(&mut self, plan: &Loop, range: &Range, declared: &Parallel, body: &Block) -> TokenStream {
        let p = self.p;
        let visits = self.visits(plan.var, range);
        let weight = self.work(&plan.work);
        let checks = self.injective_checks(declared);
        let condition = match &plan.adds {
            Adds::InCopies => None,
            Adds::Atomically(arrays) => {
                let names = arrays.iter().map(|&v| self.name(v));
                let pays = names.map(|n| quote!(#p::parallel::atomics_pay(__cx, __visits, __weight, #n)));
                Some(quote!(true #(&& #pays)*))
            }
            Adds::AsAround => Some(quote!(__atomic)),
        };
        let outside = self.around.clone();
        self.around = plan.inside(&outside);
        let run = self.run(plan, body, condition, !outside.claimed.is_empty());
        self.around = outside;
        let written = plan.roles.iter().filter(|(_, role)| !matches!(role, Role::Read));
        let seen: Vec<TokenStream> = written.map(|(v, _)| self.see_all(*v)).collect();
        quote!({
            {
                let __visits = #visits;
                let __weight: usize = #weight;
                #checks
                let __loop = #run;
                if let __Err(__e) = __loop {
                    return __Err(__e);
                }
            }
            #(#seen)*
        })
    }

    /// The loop. It accumulates in copies; where `condition` holds, if there is one, into arrays that are added to
    /// atomically in place. `claiming`: whether a loop around claims elements.
    fn run(
        &mut self,
        plan: &Loop,
        body: &Block,
        condition: Option<TokenStream>,
        claiming: bool,
    ) -> TokenStream {
        let (p, var, roles) = (self.p, plan.var, &plan.roles);
        let mut frame = Frame::default();
        for (held, role) in roles {
            self.hold(*held, role, &mut frame);
            if let Role::Owned { declared: true } = role {
                frame.claimed.push(*held);
            }
        }
        let outside_held = std::mem::take(&mut self.held);
        let lent_outside = self.lent.len();
        self.lent.append(&mut frame.lent);
        let claimed = std::mem::take(&mut frame.claimed);
        let names: Vec<[Ident; 2]> = claimed.iter().map(|array| self.claim_names(*array, var)).collect();
        if !claimed.is_empty() {
            let made = self.holding(&frame.reprs, |b| b.claim_all(plan, &claimed));
            frame.before.extend(made);
        }
        // what iterations of a loop around have claimed isn't claimed by this one's
        let taken_outside = if claimed.is_empty() { Vec::new() } else { std::mem::take(&mut self.taken) };
        let name = self.name(var);
        let (group, laned) = match &plan.lanes {
            Some((width, lanes)) => self.lanes(plan, body, (*width, lanes), &frame.reprs),
            None => (quote!(1), TokenStream::new()),
        };
        let copies = self.holding(&frame.reprs, |b| b.copies(roles));
        let statements = self.holding(&frame.reprs, |b| b.loop_body(var, body));
        if !claimed.is_empty() {
            self.taken = taken_outside;
        }
        let marks = names.iter().map(|[claims, mark]| {
            quote!(let #mark = if __claiming { #claims.mark(#p::number(#name)) } else { 0 };)
        });
        let mut one_by_one = quote!(for #name in __visits { #(#marks)* #statements } __Ok(()));
        if !claimed.is_empty() {
            let claims = names.iter().map(|[claims, _]| claims);
            let outside = claiming.then(|| quote!(|| __claiming));
            one_by_one = quote! {
                #p::parallel::either(
                    #(#claims.are_made())||* #outside, #[inline(always)] |__claiming| { #one_by_one }
                )
            };
        }
        self.lent.truncate(lent_outside);
        self.held = outside_held;
        let one_by_one = if plan.fuses {
            quote!(__l::fusing(#[inline(always)] || { #copies #one_by_one }))
        } else {
            one_by_one
        };
        let Frame { before, targets, scattered, head, .. } = frame;
        let (given, taken) = nested(&targets);
        let (scattered_given, scattered_taken) = nested(&scattered);
        let claims = names.iter().map(|[claims, _]| claims);
        let statements = quote! {
            #head
            #(let #claims = #claims;)*
            #copies
            #laned
            #one_by_one
        };
        match condition {
            None => quote!({
                #before
                #p::parallel::run(__cx, __visits, [__weight, #group], #given, move |__cx, __visits, __targets| {
                    let __fixed = #p::parallel::is_fixed(__cx, &__targets);
                    let #taken = __targets;
                    #statements
                })
            }),
            Some(condition) => quote!({
                let __atomic = #condition;
                #before
                #p::parallel::run_atomic(
                    __cx, __visits, [__weight, #group], (#given, #scattered_given), __atomic,
                    #[inline(always)]
                    move |__cx, __visits, __targets, __atomic| {
                        let __fixed = #p::parallel::is_fixed(__cx, &__targets);
                        let (#taken, #scattered_taken) = __targets;
                        #statements
                    }
                )
            }),
        }
    }

    /// How many iterations run at once in lanes, and the code that runs all groups of them; the others are left to come
    /// after them.
    fn lanes(
        &mut self,
        plan: &Loop,
        body: &Block,
        (width, lanes): (Width, &Lanes),
        reprs: &[(VarId, Repr)],
    ) -> (TokenStream, TokenStream) {
        let (p, var) = (self.p, plan.var);
        let width = ident(match width {
            Width::Wide => "WIDTH",
            Width::Narrow => "NARROW",
        });
        let name = self.name(var);
        let copies = self.holding(reprs, |b| b.copies(&plan.roles));
        let lane = Lane::under(lanes.clone(), ident("__m"));
        let body = self.holding(reprs, |b| b.laned(var, body, lane));
        let group = quote!({ __l::#width });
        let each = ident(if plan.once { "each" } else { "each_twice" });
        let groups = quote! {
            let (__groups, __visits) = __l::split::<#group, _, _>(__cx, __fixed, __visits);
            let __laned = __l::vectorize!(__groups, |__s, __groups| {
                #copies
                __groups.#each(#[inline(always)] |__m, #name| {
                    #body
                    __Ok::<(), #p::Error>(())
                })
            });
            if let __Err(__e) = __laned {
                return __Err(__e);
            }
        };
        // a constant, so that what doesn't run isn't compiled either
        let code = match self.sided {
            true => quote! {
                let __visits = if const { __l::have_sides(__N) } { #groups __visits } else { __visits };
            },
            false => groups,
        };
        (group, code)
    }

    /// Copies of the handles and numbers that a closure took along. The compiler keeps what is local in
    /// registers; what lies behind a reference it reads again after every write to an array.
    fn copies(&self, roles: &[(VarId, Role)]) -> TokenStream {
        let copied = |var: &VarId| match self.repr(*var) {
            Repr::Handle => true,
            Repr::Value => self.function.var(*var).ty.is_scalar(),
            Repr::Owned | Repr::Ref | Repr::Mut | Repr::Function => false,
        };
        let names = roles.iter().map(|(var, _)| *var).filter(copied).map(|var| self.name(var));
        quote!(#(let #names = #names;)*)
    }

    /// The values that a parallel loop visits: a type that can be split.
    fn visits(&mut self, var: VarId, range: &Range) -> TokenStream {
        let p = self.p;
        if !self.is_plain_range(var, range) {
            return self.steps(var, range);
        }
        let (start, end) = (self.expr(&range.start), self.expr(&range.end));
        let order = ident(if range.reversed { "Down" } else { "Up" });
        let of = self.counter_type(var, range).map(|t| quote!(::<#t>));
        quote!(#p::#order #of::new(#start, #end))
    }

    /// Index arrays that are declared to hold no value twice. On several threads that is checked
    /// with checks off too, as two iterations could write one element at once.
    fn injective_checks(&mut self, declared: &Parallel) -> TokenStream {
        if declared.injective.is_empty() {
            return TokenStream::new();
        }
        let (p, checked) = (self.p, self.around.checked);
        let mut checks = TokenStream::new();
        for place in &declared.injective {
            let (array, shown) = (self.place(place, Reach::Read), self.show(place));
            let array = if self.is_array(place) { array } else { quote!(#p::Lend::reader(&#array)) };
            let failure = self.fail(|at| quote!(#p::fail::not_injective(#at, #shown, __e)));
            checks.extend(quote! {
                if let __Err(__e) = #p::checks::injective(#array) { #failure }
            });
        }
        quote!(if (#checked && __cx.checks()) || #p::parallel::on_several_threads(__cx, __visits, __weight) { #checks })
    }

    /// How the closure takes a variable along.
    fn hold(&mut self, var: VarId, role: &Role, frame: &mut Frame) {
        let p = self.p;
        if let Role::Element { sum, place, touched } = role {
            let by = self.combination(var, *sum, *touched);
            return self.hold_element(var, by, place, frame);
        }
        let (name, repr) = (self.name(var), self.repr(var));
        let place = self.place(&Place::var(var), Reach::Read);
        match (role, repr) {
            (Role::Element { .. }, _)
            | (_, Repr::Function)
            | (Role::Read | Role::Owned { .. }, Repr::Handle) => {}
            (Role::Read | Role::Owned { .. }, Repr::Value | Repr::Ref)
            | (Role::Read, Repr::Owned | Repr::Mut) => {
                if self.function.var(var).ty.is_scalar() {
                    frame.before.extend(quote!(let #name = #place;));
                    frame.reprs.push((var, Repr::Value));
                } else {
                    frame.before.extend(quote!(let #name = &#place;));
                    frame.reprs.push((var, Repr::Ref));
                }
            }
            // a fixed-size array
            (Role::Owned { .. }, Repr::Owned | Repr::Mut) => {
                frame.before.extend(quote!(let #name = #p::Lend::writer(&mut #place);));
                frame.reprs.push((var, Repr::Handle));
            }
            (Role::Shared { sum, part: Some(part), touched, .. }, Repr::Handle) => {
                let by = self.combination(var, *sum, *touched);
                self.hold_part(var, by, part, frame);
            }
            (Role::Shared { sum, touched, .. }, Repr::Handle) => {
                let by = self.combination(var, *sum, *touched);
                let targets = match self.around.atomic.contains(&var) {
                    true => &mut frame.scattered,
                    false => &mut frame.targets,
                };
                targets.push((quote!(#p::parallel::By(#by, #name)), quote!(#p::parallel::By(_, #name))));
            }
            (Role::Shared { sum, touched, .. }, Repr::Value | Repr::Ref | Repr::Owned | Repr::Mut) => {
                let by = self.combination(var, *sum, *touched);
                frame.targets.push((
                    quote!(#p::parallel::By(#by, #p::Single::new(&mut #place))),
                    quote!(#p::parallel::By(_, #name)),
                ));
                frame.head.extend(quote!(let #name = #name.get();));
                frame.reprs.push((var, Repr::Mut));
            }
        }
    }

    /// The claims on the elements of arrays: none where it is known before the loop that no two iterations meet.
    fn claim_all(&mut self, plan: &Loop, arrays: &[VarId]) -> TokenStream {
        let (p, checked, var) = (self.p, self.around.checked, plan.var);
        let met = plan.claims.as_ref().map(|claims| {
            let shapes =
                claims.arrays.iter().flat_map(|(first, others)| others.iter().map(move |o| (first, o)));
            let shapes: Vec<TokenStream> = shapes
                .map(|(a, b)| {
                    let [a, b] = [a, b].map(|v| self.name(*v));
                    quote!(#p::claims::have_one_shape(&#a, &#b))
                })
                .collect();
            let counts = claims.arrays.iter().map(|(first, _)| self.name(*first));
            let counts = quote!([#(#p::Extents::count(&#counts)),*]);
            let takes = self.takes(var, claims);
            let name = self.name(var);
            quote! {
                && !(#(#shapes &&)* #p::claims::are_apart(__cx, __visits, __weight, #counts, |__used, #name| {
                    #takes
                    __Some(())
                }))
            }
        });
        let made = quote!(let __made = #p::claims::are_needed(__cx, #checked, __visits, __weight) #met;);
        let each = arrays.iter().map(|&array| {
            let (name, [claims, _]) = (self.name(array), self.claim_names(array, var));
            let no_memory = self.fail(|at| quote!(#p::fail::no_memory(#at)));
            quote! {
                let __Some(#claims) =
                    #p::claims::Claims::new(__cx, __made, __visits, __weight, #p::Extents::count(&#name))
                else {
                    #no_memory
                };
                let #claims = #claims.claiming();
            }
        });
        quote!(#made #(#each)*)
    }

    /// What an iteration uses, told to `__used`; `None` where that can't be computed.
    fn takes(&mut self, var: VarId, claims: &Claims) -> TokenStream {
        self.set(var, Repr::Value);
        let pure = std::mem::replace(&mut self.pure, true);
        let takes = self.takes_of(&claims.takes, claims);
        self.pure = pure;
        takes
    }

    fn takes_of(&mut self, takes: &[Take], claims: &Claims) -> TokenStream {
        takes.iter().map(|take| self.one_take(take, claims)).collect()
    }

    fn one_take(&mut self, take: &Take, claims: &Claims) -> TokenStream {
        let p = self.p;
        match take {
            Take::Of(place) => {
                let array = self.name(place.var);
                let number = claims.arrays.iter().position(|(first, _)| *first == place.var);
                match place.path.first() {
                    Some(Step::Index(index)) => {
                        let sizes = (0..index.len()).map(|k| quote!(#p::Extents::extent(&#array, #k)));
                        let index = self.exprs(index);
                        quote!(__used.take(#number, #p::claims::position([#(#index),*], [#(#sizes),*]));)
                    }
                    Some(Step::Part(axes)) => {
                        let taken: Vec<TokenStream> = axes.iter().map(|axis| self.taken(axis)).collect();
                        quote!(__used.take_part(#number, (&[#(#taken),*], &#array));)
                    }
                    _ => self.defect("a claim on what is neither an element nor a part"),
                }
            }
            Take::Let(var, expr, takes) => {
                let value = self.expr(expr);
                let (name, ty) = (self.name(*var), self.annotation(*var));
                self.set(*var, Repr::Value);
                let takes = self.takes_of(takes, claims);
                self.scope(quote!(let #name #ty = #value; #takes))
            }
            Take::For(var, range, takes) => {
                let (values, name) = (self.range(*var, range), self.name(*var));
                self.set(*var, Repr::Value);
                let takes = self.takes_of(takes, claims);
                quote!(for #name in #values { #takes })
            }
        }
    }

    /// How the closure takes one element of an array along.
    fn hold_element(&mut self, var: VarId, by: TokenStream, place: &Place, frame: &mut Frame) {
        let p = self.p;
        let Some(Step::Index(index)) = place.path.first() else {
            return frame.before.extend(self.defect("a sum into an element without an index"));
        };
        let (array, element) = (self.name(var), self.companion("element", var));
        let plain = index.iter().all(is_plain);
        let index = self.exprs(index);
        let found = quote!(#p::Single::of_element(#array.wr([#(#index),*])));
        let found = match plain {
            true => found,
            // a loop without trips has no use for it
            false => {
                self.only_by_reference();
                quote!((|| -> ::core::result::Result<_, #p::Error> { __Ok(#found) })().ok().flatten())
            }
        };
        frame.before.extend(quote!(let #element = #found;));
        frame.targets.push((quote!(#p::parallel::By(#by, #element)), quote!(#p::parallel::By(_, #element))));
        frame.lent.push((place.clone(), element));
    }

    /// How it takes the part of an array along into which all iterations accumulate.
    fn hold_part(&mut self, var: VarId, by: TokenStream, place: &Place, frame: &mut Frame) {
        let p = self.p;
        let Some(Step::Part(axes)) = place.path.first() else {
            return frame.before.extend(self.defect("a sum into a part without axes"));
        };
        let at = axes.iter().map(|axis| match axis {
            Axis::At(index) => {
                let index = self.expr(index);
                quote!(__Some(#index))
            }
            Axis::Whole | Axis::Range(..) => quote!(__None),
        });
        let (at, array, part): (Vec<_>, _, _) = (at.collect(), self.name(var), self.companion("part", var));
        frame.before.extend(quote!(let #part = #p::parallel::CommonPart::new(#array, [#(#at),*]);));
        frame.targets.push((
            quote!(#p::parallel::By(#by, #part)),
            quote!(#p::parallel::By(_, #p::parallel::CommonPart { all: #array, .. })),
        ));
    }

    /// How the copies of a variable's elements are put together.
    fn combination(&self, var: VarId, sum: Sum, touched: bool) -> TokenStream {
        let by = match sum {
            Sum::Add if adds_by_field(&self.function.var(var).ty) => "Fields",
            Sum::Add => "Sum",
            Sum::Xor => "Parity",
        };
        combined(self.p, by, touched)
    }

    /// Records what a loop left in an ancilla from outside.
    fn see_all(&mut self, var: VarId) -> TokenStream {
        if !self.held.contains(&var) {
            return TokenStream::new();
        }
        let p = self.p;
        let (name, held) = (self.name(var), self.companion("held", var));
        match self.repr(var) {
            Repr::Handle => quote!(if __cx.checks() { #p::arrays::see_all(&mut #held, #name); }),
            Repr::Value | Repr::Owned | Repr::Ref | Repr::Mut | Repr::Function => {
                let place = self.place(&Place::var(var), Reach::Read);
                self.see(var, quote!(&#place))
            }
        }
    }
}

/// An operation by which copies are put together.
fn combined(p: &TokenStream, by: &str, touched: bool) -> TokenStream {
    let by = ident(by);
    match touched {
        false => quote!(#p::parallel::#by),
        true => quote!(#p::parallel::Touched(#p::parallel::#by)),
    }
}

/// The targets as nested pairs, and the pattern of the same form.
fn nested(targets: &[(TokenStream, TokenStream)]) -> (TokenStream, TokenStream) {
    targets.iter().rev().fold((quote!(()), quote!(())), |(given, taken), (target, pattern)| {
        (quote!((#target, #given)), quote!((#pattern, #taken)))
    })
}
