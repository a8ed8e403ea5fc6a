//! Parallel loops: what each variable from outside is to the iterations, and the closure that runs
//! a part of them.
//!
//! Outside the closure every variable that the body uses becomes something that tasks can share: a
//! copy of a scalar, a shared reference, a handle. What iterations accumulate into becomes a target,
//! which the closure gets back as its task's own copy, or as the target itself where one task runs
//! the whole loop. Inside the closure the variables have their names again.

use std::collections::BTreeSet;

use proc_macro2::{Ident, TokenStream};
use quote::quote;
use rev_compiler::check::overlap::{overlap, Overlap};
use rev_compiler::facts::{classify, classify_whole, Accumulated, ParallelFacts, PlaceClass, Site, Sum};
use rev_compiler::ir::{
    Block, Callee, Expr, ExprKind, Parallel, Place, Range, Step, Stmt, StmtKind, Type, VarId,
};
use rev_compiler::ops::Func;
use rev_compiler::pass::compares;
use rev_compiler::plan::{is_laned, passes, width, Lanes, Varying, Width, Work};

use super::body::{Body, Repr};
use super::expr::Reach;
use super::lanes::Lane;
use super::names::ident;
use super::types::{is_fixed, is_scalar};

/// What a variable from outside is to the iterations.
enum Role {
    /// Only read.
    Read,
    /// Written, each element by one iteration; as the program declares it, where `declared`.
    Owned { declared: bool },
    /// Accumulated into by many; element by element at places chosen by data, if `scattered`.
    Shared { sum: Sum, scattered: bool },
    /// Accumulated into at one element only, the same for every iteration.
    Element { sum: Sum, place: Place },
}

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
    /// A loop whose iterations may run in any order. It stays sequential where the classes of its
    /// variables can't be kept apart, and where iterations write parts of one element, or of a
    /// variable that isn't an array: threads reach these through references to the whole.
    pub fn parallel_loop(
        &mut self,
        stmt: &Stmt,
        var: VarId,
        range: &Range,
        declared: &Parallel,
        body: &Block,
    ) -> TokenStream {
        let apart = classify_whole(self.function, stmt).is_ok();
        let facts = classify(self.function, stmt).ok().filter(|_| apart);
        let roles = facts.and_then(|facts| self.roles(&facts, body));
        match roles {
            Some(roles) => self.tasks(var, range, declared, body, &roles),
            None => self.for_loop(var, range, body),
        }
    }

    /// The roles of the variables from outside, `None` where one has several.
    fn roles(&self, facts: &ParallelFacts, body: &Block) -> Option<Vec<(VarId, Role)>> {
        let mut used = BTreeSet::new();
        body.iter().for_each(|s| mentioned(s, &mut used));
        let mut own = BTreeSet::new();
        body.iter().for_each(|s| s.add_bound(&mut own));
        let mut roles = Vec::new();
        for var in used.difference(&own).copied() {
            let role = match facts.classes.get(&var) {
                Some(PlaceClass::Private) => continue,
                // only its length is asked for, or it is a function
                None | Some(PlaceClass::ReadOnly) => Role::Read,
                Some(PlaceClass::Owned { declared }) => self.owned(var, *declared, body)?,
                Some(PlaceClass::Accumulated(a)) => match self.one_element(var, facts, a) {
                    Some(role) => role,
                    None => self.shared(var, a)?,
                },
                Some(PlaceClass::Parts(parts)) => self.role_of_parts(var, parts, body)?,
            };
            roles.push((var, role));
        }
        Some(roles)
    }

    /// An array of which each iteration has elements. Elements that are declared to be its own can be
    /// claimed where they are used one by one or in slices.
    fn owned(&self, var: VarId, declared: bool, body: &Block) -> Option<Role> {
        let array = match self.repr(var) {
            Repr::Owned | Repr::Mut => is_fixed(&self.function.var(var).ty),
            Repr::Handle | Repr::Value | Repr::Ref | Repr::Function => true,
        };
        let claimable = !declared || body.iter().all(|s| self.uses_elements(var, s));
        (array && claimable).then_some(Role::Owned { declared })
    }

    /// Whether a statement uses nothing of an array but elements and slices.
    fn uses_elements(&self, var: VarId, stmt: &Stmt) -> bool {
        let mut only = match &stmt.kind {
            StmtKind::External { code } => {
                let external = self.source.external(code, stmt.span);
                external.is_some_and(|e| e.names.iter().all(|name| name.var != var))
            }
            _ => true,
        };
        let mut see = |q: &Place| only &= q.var != var || !q.path.is_empty();
        stmt.each_access(&mut |q, _| see(q));
        stmt.each_expr(&mut |e| each_shadowed(e, &mut see));
        only && stmt.blocks().into_iter().flatten().all(|s| self.uses_elements(var, s))
    }

    /// The element of an array into which all iterations accumulate, if it is one and the same, so
    /// that only this one has to be copied.
    fn one_element(&self, var: VarId, facts: &ParallelFacts, a: &Accumulated) -> Option<Role> {
        let head = |place: &Place| match place.path.first() {
            Some(Step::Index(_)) => Some(Place { path: place.path[..1].to_vec(), ..place.clone() }),
            _ => None,
        };
        let element = head(&a.sites.first()?.place)?;
        let same = |site: &Site| {
            head(&site.place).is_some_and(|h| overlap(&element, &h, &self.values) == Overlap::Equal)
        };
        let fixed = |var: &VarId| !matches!(facts.classes.get(var), Some(PlaceClass::Private));
        let mut read = BTreeSet::new();
        element.indices().for_each(|e| mentioned_in(e, &mut read));
        let held = self.repr(var) == Repr::Handle && !self.atomic.contains(&var);
        let one = held && read.iter().all(fixed) && a.sites.iter().all(same);
        (one && self.is_summable(var, a)).then_some(Role::Element { sum: a.sum, place: element })
    }

    /// Whether copies of a variable's elements can be added up.
    fn is_summable(&self, var: VarId, a: &Accumulated) -> bool {
        // a struct's shadow can be added, a struct can't
        let known = !matches!(element_type(&self.function.var(var).ty), Type::Struct(..) | Type::Unknown);
        known && a.sum != Sum::Mul
    }

    /// A sum into a variable whose elements can be added up.
    fn shared(&self, var: VarId, a: &Accumulated) -> Option<Role> {
        let element = |place: &Place| matches!(place.path.as_slice(), [Step::Index(_)]);
        let scattered = a.scattered
            && !a.called
            && a.sum == Sum::Add
            && self.repr(var) == Repr::Handle
            && a.sites.iter().all(|s| element(&s.place));
        self.is_summable(var, a).then_some(Role::Shared { sum: a.sum, scattered })
    }

    fn role_of_parts(&self, var: VarId, parts: &[(Vec<Place>, PlaceClass)], body: &Block) -> Option<Role> {
        let owned = |class: &PlaceClass| matches!(class, PlaceClass::Owned { .. } | PlaceClass::ReadOnly);
        if parts.iter().all(|(_, class)| owned(class)) {
            return self.owned(var, false, body);
        }
        let mut sums = parts.iter().map(|(_, class)| match class {
            PlaceClass::Accumulated(a) => Some(a),
            _ => None,
        });
        let first = sums.next()??;
        sums.all(|a| a.is_some_and(|a| a.sum == first.sum)).then(|| self.shared(var, first)).flatten()
    }

    fn tasks(
        &mut self,
        var: VarId,
        range: &Range,
        declared: &Parallel,
        body: &Block,
        roles: &[(VarId, Role)],
    ) -> TokenStream {
        let p = self.p;
        let visits = self.visits(var, range);
        let arrays = |v: &VarId| self.repr(*v) == Repr::Handle;
        let handles: BTreeSet<VarId> =
            (0..self.function.vars.len() as u32).map(VarId).filter(arrays).collect();
        let weight = self.work(&Work::of_iteration(self.function, &handles, var, body));
        let checks = self.injective_checks(declared);
        // a loop inside one that may add atomically does so where that one does
        let inside =
            |(v, role): &(VarId, Role)| matches!(role, Role::Shared { .. }) && self.atomic.contains(v);
        let run = if !roles.iter().any(inside) {
            let scattered = |(var, role): &(VarId, Role)| match role {
                Role::Shared { scattered: true, .. } => Some(*var),
                Role::Shared { .. } | Role::Element { .. } | Role::Read | Role::Owned { .. } => None,
            };
            let scattered: Vec<VarId> = roles.iter().filter_map(scattered).collect();
            let names = scattered.iter().map(|&v| self.name(v));
            let conditions = names.map(|n| quote!(#p::parallel::atomics_pay(__cx, __visits, __weight, #n)));
            let condition = (!scattered.is_empty()).then(|| quote!(true #(&& #conditions)*));
            self.atomic.extend(scattered.iter().copied());
            let run = self.run(var, body, roles, condition);
            scattered.iter().for_each(|v| {
                self.atomic.remove(v);
            });
            run
        } else {
            self.run(var, body, roles, Some(quote!(__atomic)))
        };
        let written = roles.iter().filter(|(_, role)| !matches!(role, Role::Read));
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

    /// The loop. It accumulates in copies; where `condition` holds, if there is one, into [`Body::atomic`] variables in
    /// place.
    fn run(
        &mut self,
        var: VarId,
        body: &Block,
        roles: &[(VarId, Role)],
        condition: Option<TokenStream>,
    ) -> TokenStream {
        let p = self.p;
        let mut frame = Frame::default();
        for (held, role) in roles {
            self.hold(*held, role, &mut frame);
            if let Role::Owned { declared: true } = role {
                self.hold_claims(*held, var, &mut frame);
            }
        }
        let outside_held = std::mem::take(&mut self.held);
        let lent_outside = self.lent.len();
        self.lent.append(&mut frame.lent);
        let claimed_outside = self.claimed.len();
        let claimed = std::mem::take(&mut frame.claimed);
        let names: Vec<[Ident; 2]> = claimed.iter().map(|array| self.claim_names(*array, var)).collect();
        self.claimed.extend(claimed.iter().map(|array| (*array, var)));
        // what iterations of a loop around have claimed isn't claimed by this one's
        let taken_outside = if claimed.is_empty() { Vec::new() } else { std::mem::take(&mut self.taken) };
        let name = self.name(var);
        let (group, laned) =
            self.lanes(var, body, roles, &frame.reprs).unwrap_or((quote!(1), TokenStream::new()));
        let copies = self.holding(&frame.reprs, |b| b.copies(roles));
        let statements = self.holding(&frame.reprs, |b| b.loop_body(var, body));
        self.claimed.truncate(claimed_outside);
        if !claimed.is_empty() {
            self.taken = taken_outside;
        }
        let marks = names.iter().map(|[claims, mark]| {
            quote!(let #mark = if __claiming { #claims.mark(#p::number(#name)) } else { 0 };)
        });
        let mut one_by_one = quote!(for #name in __visits { #(#marks)* #statements } __Ok(()));
        if !claimed.is_empty() {
            let claims = names.iter().map(|[claims, _]| claims);
            let outside = (claimed_outside > 0).then(|| quote!(|| __claiming));
            one_by_one = quote! {
                #p::parallel::either(
                    #(#claims.are_made())||* #outside, #[inline(always)] |__claiming| { #one_by_one }
                )
            };
        }
        self.lent.truncate(lent_outside);
        self.held = outside_held;
        let one_by_one = if body.iter().any(has_fused_product) {
            quote!(#p::lanes::fusing(#[inline(always)] || { #copies #one_by_one }))
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

    /// How many iterations run at once in lanes, and the code that runs all groups of them, where nothing in the loop is
    /// compared; the others are left to come after them.
    fn lanes(
        &mut self,
        var: VarId,
        body: &Block,
        roles: &[(VarId, Role)],
        reprs: &[(VarId, Repr)],
    ) -> Option<(TokenStream, TokenStream)> {
        let p = self.p;
        let varying = Varying::of_loop(var, body);
        // this loop's claims, and those of one around it
        let claimed = |(var, _): &(VarId, Role)| self.claimed.iter().any(|(array, _)| array == var);
        if self.checked && compares(body, &self.values)
            || roles.iter().any(claimed)
            || self.lane.is_some()
            || !is_laned(self.function, &varying, body)
        {
            return None;
        }
        // what a call leaves in a place that starts at zero is added
        let other = |(_, role): &&(VarId, Role)| match role {
            Role::Shared { sum, .. } | Role::Element { sum, .. } => *sum != Sum::Add,
            Role::Read | Role::Owned { .. } => false,
        };
        let other: BTreeSet<VarId> = roles.iter().filter(other).map(|(var, _)| *var).collect();
        if body.iter().any(|s| passes(s, &other)) {
            return None;
        }
        let width = ident(match width(self.function, &varying, body) {
            Width::Wide => "WIDTH",
            Width::Narrow => "NARROW",
        });
        let shared = |(_, role): &&(VarId, Role)| matches!(role, Role::Shared { .. } | Role::Element { .. });
        let shared = roles.iter().filter(shared).map(|(var, _)| *var).collect();
        let name = self.name(var);
        let copies = self.holding(reprs, |b| b.copies(roles));
        let lane = Lane::under(Lanes { varying, shared }, ident("__m"));
        let body = self.holding(reprs, |b| b.laned(var, body, lane));
        let group = quote!({ #p::lanes::#width });
        let code = quote! {
            let (__groups, __visits) = #p::lanes::split::<#group, _, _>(__cx, __fixed, __visits);
            let __laned = #p::lanes::vectorize!(__groups, |__s, __groups| {
                #copies
                __groups.each(#[inline(always)] |__m, #name| {
                    #body
                    __Ok::<(), #p::Error>(())
                })
            });
            if let __Err(__e) = __laned {
                return __Err(__e);
            }
        };
        Some((group, code))
    }

    /// Copies of the handles and numbers that a closure took along. The compiler keeps what is local in
    /// registers; what lies behind a reference it reads again after every write to an array.
    fn copies(&self, roles: &[(VarId, Role)]) -> TokenStream {
        let copied = |var: &VarId| match self.repr(*var) {
            Repr::Handle => true,
            Repr::Value => is_scalar(&self.function.var(*var).ty),
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
        let (p, checked) = (self.p, self.checked);
        let mut checks = TokenStream::new();
        for place in &declared.injective {
            let (array, shown) = (self.place(place, Reach::Read), self.show(place));
            let array = if self.is_array(place) { array } else { quote!(#p::Elements::reader(&#array)) };
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
        if let Role::Element { sum, place } = role {
            return self.hold_element(var, *sum, place, frame);
        }
        let (name, repr) = (self.name(var), self.repr(var));
        let place = self.place(&Place::var(var), Reach::Read);
        match (role, repr) {
            (Role::Element { .. }, _)
            | (_, Repr::Function)
            | (Role::Read | Role::Owned { .. }, Repr::Handle) => {}
            (Role::Read | Role::Owned { .. }, Repr::Value | Repr::Ref)
            | (Role::Read, Repr::Owned | Repr::Mut) => {
                if is_scalar(&self.function.var(var).ty) {
                    frame.before.extend(quote!(let #name = #place;));
                    frame.reprs.push((var, Repr::Value));
                } else {
                    frame.before.extend(quote!(let #name = &#place;));
                    frame.reprs.push((var, Repr::Ref));
                }
            }
            // a fixed-size array
            (Role::Owned { .. }, Repr::Owned | Repr::Mut) => {
                frame.before.extend(quote!(let #name = #p::Elements::writer(&mut #place);));
                frame.reprs.push((var, Repr::Handle));
            }
            (Role::Shared { sum, .. }, Repr::Handle) => {
                let by = combination(*sum);
                let targets = match self.atomic.contains(&var) {
                    true => &mut frame.scattered,
                    false => &mut frame.targets,
                };
                targets.push((
                    quote!(#p::parallel::By(#p::parallel::#by, #name)),
                    quote!(#p::parallel::By(_, #name)),
                ));
            }
            (Role::Shared { sum, .. }, Repr::Value | Repr::Ref | Repr::Owned | Repr::Mut) => {
                let by = combination(*sum);
                frame.targets.push((
                    quote!(#p::parallel::By(#p::parallel::#by, #p::Single::new(&mut #place))),
                    quote!(#p::parallel::By(_, #name)),
                ));
                frame.head.extend(quote!(let #name = #name.get();));
                frame.reprs.push((var, Repr::Mut));
            }
        }
    }

    /// The claims on an array's elements.
    fn hold_claims(&mut self, var: VarId, index: VarId, frame: &mut Frame) {
        let (p, checked) = (self.p, self.checked);
        let (array, [claims, _]) = (self.name(var), self.claim_names(var, index));
        let count = quote!(#p::Extents::count(&#array));
        let no_memory = self.fail(|at| quote!(#p::fail::no_memory(#at)));
        frame.before.extend(quote! {
            let __Some(#claims) =
                #p::claims::Claims::new(__cx, #checked, __visits, __weight, #count)
            else {
                #no_memory
            };
            let #claims = #claims.claiming();
        });
        frame.claimed.push(var);
    }

    /// How the closure takes one element of an array along.
    fn hold_element(&mut self, var: VarId, sum: Sum, place: &Place, frame: &mut Frame) {
        let p = self.p;
        let Some(Step::Index(index)) = place.path.first() else {
            return frame.before.extend(self.defect("a sum into an element without an index"));
        };
        let (index, by) = (self.exprs(index), combination(sum));
        let (array, element) = (self.name(var), self.companion("element", var));
        frame.before.extend(quote!(let #element = #p::Single::of_element(#array.wr([#(#index),*]));));
        frame.targets.push((
            quote!(#p::parallel::By(#p::parallel::#by, #element)),
            quote!(#p::parallel::By(_, #element)),
        ));
        frame.lent.push((place.clone(), element));
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

fn combination(sum: Sum) -> Ident {
    ident(match sum {
        Sum::Add | Sum::Mul => "Sum",
        Sum::Xor => "Parity",
    })
}

/// The targets as nested pairs, and the pattern of the same form.
fn nested(targets: &[(TokenStream, TokenStream)]) -> (TokenStream, TokenStream) {
    targets.iter().rev().fold((quote!(()), quote!(())), |(given, taken), (target, pattern)| {
        (quote!((#target, #given)), quote!((#pattern, #taken)))
    })
}

/// The type of the elements of arrays, at any depth.
fn element_type(ty: &Type) -> &Type {
    match ty {
        Type::Array(t, _) | Type::Fixed(t, _) => element_type(t),
        other => other,
    }
}

/// Whether a statement has a product that is rounded together with a sum.
fn has_fused_product(stmt: &Stmt) -> bool {
    names_fused_product(stmt) || stmt.blocks().into_iter().flatten().any(has_fused_product)
}

/// Whether a statement has such a product outside of parallel loops, which see to their own.
pub fn has_fused_product_outside(stmt: &Stmt) -> bool {
    let own = !matches!(&stmt.kind, StmtKind::For { parallel: Some(_), .. });
    own && (names_fused_product(stmt) || stmt.blocks().into_iter().flatten().any(has_fused_product_outside))
}

fn names_fused_product(stmt: &Stmt) -> bool {
    fn names(e: &Expr) -> bool {
        let mut found = matches!(&e.kind, ExprKind::Func(Func::Fused | Func::MulAdd, _));
        e.each_child(&mut |child| found |= names(child));
        found
    }
    let mut found = false;
    stmt.each_expr(&mut |e| found |= names(e));
    found
}

/// The places after which an expression is shaped.
fn each_shadowed(e: &Expr, f: &mut dyn FnMut(&Place)) {
    if let ExprKind::ZeroShadow(q) | ExprKind::ZeroLike(q) = &e.kind {
        f(q);
    }
    e.each_child(&mut |c| each_shadowed(c, f));
}

/// The variables that a statement mentions in any way, those that its expressions name aside.
fn mentioned(stmt: &Stmt, found: &mut BTreeSet<VarId>) {
    stmt.each_expr(&mut |e| mentioned_in(e, found));
    stmt.each_place(&mut |q, _| {
        found.insert(q.var);
        q.indices().for_each(|e| mentioned_in(e, found));
    });
    match &stmt.kind {
        StmtKind::Call { callee: Callee::Param(var), .. } | StmtKind::Release { var, .. } => {
            found.insert(*var);
        }
        StmtKind::For { parallel: Some(declared), .. } => {
            for place in &declared.injective {
                found.insert(place.var);
                place.indices().for_each(|e| mentioned_in(e, found));
            }
        }
        StmtKind::Update { .. }
        | StmtKind::Instr { .. }
        | StmtKind::Let { .. }
        | StmtKind::Ancilla { .. }
        | StmtKind::If { .. }
        | StmtKind::While { .. }
        | StmtKind::For { parallel: None, .. }
        | StmtKind::Call { callee: Callee::Path(_), .. }
        | StmtKind::Compute { .. }
        | StmtKind::Push { .. }
        | StmtKind::Pop { .. }
        | StmtKind::External { .. }
        | StmtKind::Unchecked { .. }
        | StmtKind::Inverse { .. } => {}
    }
    for block in stmt.blocks() {
        block.iter().for_each(|s| mentioned(s, found));
    }
}

fn mentioned_in(e: &Expr, found: &mut BTreeSet<VarId>) {
    found.extend(e.named().map(|(q, _)| q.var));
    e.each_child(&mut |c| mentioned_in(c, found));
    // names of its own are none that come from outside
    if let ExprKind::Block(lets, _) = &e.kind {
        found.retain(|var| lets.iter().all(|(own, _)| own != var));
    }
}
