//! Places of which each lane has its own.

use proc_macro2::{Ident, Literal, TokenStream};
use quote::quote;
use rev_compiler::ir::{Place, Step};

use super::super::body::{Body, Repr};
use super::super::expr::Reach;
use super::super::names::ident;
use super::Kind;

/// Where the lanes' values at a place are.
pub enum Spot {
    /// One place for all lanes.
    One,
    /// A pack in a variable, as a place of Rust.
    Held(TokenStream),
    /// An element for each lane, chosen by an index that differs.
    Chosen(Chosen),
}

/// Elements of an array, one for each lane.
pub struct Chosen {
    /// The array, as a handle.
    array: TokenStream,
    /// Whether its elements are packs themselves, of which each lane has its own.
    packs: bool,
    /// Code that names the indices.
    lets: TokenStream,
    /// Their names, for each axis.
    index: Vec<Ident>,
    /// How many steps of the path lead up to the elements, the index included.
    depth: usize,
}

impl Body<'_> {
    /// Where the lanes' values at a place are.
    pub fn spot(&mut self, place: &Place, reach: Reach) -> Spot {
        if let Some((row, depth)) = self.held_row(place) {
            return self.along(quote!(#row), place, depth, reach);
        }
        let (p, name) = (self.p, self.name(place.var));
        let base = match self.repr(place.var) {
            Repr::Value | Repr::Owned | Repr::Handle | Repr::Function => quote!(#name),
            Repr::Ref | Repr::Mut => quote!((*#name)),
        };
        match self.kind(place.var) {
            Kind::Linear => Spot::Held(quote!(__l::spread(__s, #base))),
            Kind::Pack => self.along(base, place, 0, reach),
            Kind::Uniform => match self.first_choice(place) {
                None => Spot::One,
                Some(depth) => {
                    let before = Place { path: place.path[..depth].to_vec(), ..place.clone() };
                    let handle = depth == 0 && self.repr(place.var) == Repr::Handle;
                    let array = self.place(&before, if handle { Reach::Read } else { reach });
                    let array = if handle { array } else { as_handle(p, &array, reach) };
                    self.chosen(array, false, place, depth)
                }
            },
        }
    }

    /// An array of which each lane has its own, as something with a length.
    pub fn lane_array(&mut self, place: &Place) -> Option<TokenStream> {
        if self.kind(place.var) != Kind::Pack {
            return None;
        }
        let handle = place.path.is_empty() && self.repr(place.var) == Repr::Handle;
        match self.spot(place, Reach::Read) {
            Spot::Held(held) if handle => Some(held),
            Spot::Held(held) => Some(quote!(#held.0)),
            // not in lanes
            Spot::One | Spot::Chosen(_) => None,
        }
    }

    /// The step of a path at which lanes part.
    pub fn first_choice(&self, place: &Place) -> Option<usize> {
        place.path.iter().position(|step| match step {
            Step::Index(index) => index.iter().any(|e| self.varies(e)),
            _ => false,
        })
    }

    /// The rest of a path, from a pack (or an array of packs) on.
    fn along(&mut self, base: TokenStream, place: &Place, from: usize, reach: Reach) -> Spot {
        let p = self.p;
        let mut out = base;
        for (depth, step) in place.path.iter().enumerate().skip(from) {
            let whole = depth == 0 && self.repr(place.var) == Repr::Handle;
            out = match step {
                Step::Index(index) => {
                    let array = if whole { out } else { quote!(#out.0) };
                    if index.iter().any(|e| self.varies(e)) {
                        let array = if whole { array } else { as_handle(p, &array, reach) };
                        return self.chosen(array, true, place, depth);
                    }
                    let reach = if reach == Reach::Read { Reach::Read } else { Reach::Write };
                    self.element(array, index, place, depth, reach)
                }
                Step::Element(k) => {
                    let k = Literal::u32_unsuffixed(*k);
                    quote!(#out.0.#k)
                }
                Step::Re => quote!(#out.0.re),
                Step::Im => quote!(#out.0.im),
                Step::Field(_) | Step::Part(_) => self.defect("a field or a part of an array in lanes"),
            };
        }
        Spot::Held(out)
    }

    fn chosen(&mut self, array: TokenStream, packs: bool, place: &Place, depth: usize) -> Spot {
        let index = match place.path.get(depth) {
            Some(Step::Index(index)) => index.clone(),
            Some(Step::Field(_) | Step::Element(_) | Step::Part(_) | Step::Re | Step::Im) | None => {
                return Spot::Held(self.defect("an array of packs that isn't indexed"));
            }
        };
        let (lets, index) = self.lane_index(&index);
        Spot::Chosen(Chosen { array, packs, lets, index, depth: depth + 1 })
    }

    /// An access of chosen elements that fails where an index is out of range.
    pub fn accessed(
        &mut self,
        chosen: &Chosen,
        method: &str,
        value: &TokenStream,
        place: &Place,
    ) -> TokenStream {
        let (mask, method) = (self.mask(), ident(method));
        let (array, index, shown) = (&chosen.array, &chosen.index, self.show(place));
        let failure = self.failing_at(
            quote!(__lane),
            |at| quote!(__l::absent(#at, #shown, #array.extents(), (#(#index,)*), __lane)),
        );
        quote!(match #array.#method(__s, #mask, (#(#index,)*) #value) {
            __Ok(__r) => __r,
            __Err(__lane) => #failure,
        })
    }

    /// The lanes' values at a place, which differ.
    pub fn lane_value(&mut self, place: &Place) -> TokenStream {
        match self.spot(place, Reach::Read) {
            Spot::One => {
                let value = self.value(place);
                quote!(__l::broadcast(__s, #value))
            }
            Spot::Held(held) if self.function.type_at(place).is_some_and(|ty| ty.is_scalar()) => held,
            Spot::Held(held) => quote!(__copy(&#held)),
            Spot::Chosen(chosen) => {
                let method = if chosen.packs { "pick" } else { "lanes_read" };
                let (lets, value) =
                    (&chosen.lets, self.accessed(&chosen, method, &TokenStream::new(), place));
                if chosen.depth == place.path.len() {
                    return quote!({ #lets #value });
                }
                let whole = self.fresh("whole");
                let part = self.rest(&whole, place, chosen.depth, Reach::Read);
                quote!({ #lets let #whole = #value; ::core::clone::Clone::clone(&#part) })
            }
        }
    }

    /// The part of a pack to which the rest of a path leads.
    fn rest(&mut self, whole: &Ident, place: &Place, depth: usize, reach: Reach) -> TokenStream {
        match self.along(quote!(#whole), place, depth, reach) {
            Spot::Held(part) => part,
            // paths part at one step at most
            Spot::One | Spot::Chosen(_) => quote!(#whole),
        }
    }

    /// Code that changes the pack at a place, which it gets as a place of Rust. Where `sum` says so, the
    /// pack starts at zero, and what it holds afterwards is added to the place.
    pub fn through(
        &mut self,
        place: &Place,
        sum: bool,
        change: impl FnOnce(&mut Self, TokenStream) -> TokenStream,
    ) -> TokenStream {
        match self.spot(place, Reach::Write) {
            Spot::Held(held) => {
                let seen = self.lane_see(place.var, &held);
                let changed = change(self, held);
                quote!(#changed #seen)
            }
            Spot::One => {
                let part = self.fresh("part");
                let changed = change(self, quote!(#part));
                let mask = self.mask();
                let added = self.add_sum(place, false, &quote!(__l::sum(__s, #mask, &#part)));
                quote!({ let mut #part = __l::zero(__s); #changed #added })
            }
            Spot::Chosen(chosen) => {
                let whole = self.fresh("whole");
                let (read, write) = match (chosen.packs, sum) {
                    (true, _) => ("pick", "put"),
                    (false, true) => ("", "lanes_add"),
                    (false, false) => ("lanes_read", "lanes_write"),
                };
                let first = if read.is_empty() {
                    // of a type that is known where a part is reached
                    let array = &chosen.array;
                    quote!(#array.lanes_zero(__s))
                } else {
                    self.accessed(&chosen, read, &TokenStream::new(), place)
                };
                let part = self.rest(&whole, place, chosen.depth, Reach::Write);
                let changed = change(self, part);
                let seen =
                    if chosen.packs { self.lane_see(place.var, &quote!(#whole)) } else { TokenStream::new() };
                let back = self.accessed(&chosen, write, &quote!(, #whole), place);
                let lets = &chosen.lets;
                quote!({ #lets let mut #whole = #first; #changed #seen #back; })
            }
        }
    }

    /// Adds what the lanes' sum is to a place that is one for all lanes.
    pub fn add_sum(&mut self, place: &Place, negative: bool, sum: &TokenStream) -> TokenStream {
        let (name, any) = match negative {
            false => (ident("add"), ident("add_any")),
            true => (ident("sub"), ident("sub_any")),
        };
        let target = self.place(place, Reach::Write);
        let add = quote!(__f::update::#any(&mut #target, __sum););
        if !self.around.atomic.contains(&place.var) {
            return quote!({ let __sum = #sum; #add });
        }
        let cell = self.place(place, Reach::Atomic);
        quote!({ let __sum = #sum; if __atomic { #cell.#name(__sum); } else { #add } })
    }

    /// Adds a pack to elements, one for each lane.
    pub fn add_each(
        &mut self,
        chosen: &Chosen,
        negative: bool,
        pack: &TokenStream,
        place: &Place,
    ) -> TokenStream {
        let (add, atomic) = match negative {
            false => ("lanes_add", "lanes_add_atomic"),
            true => ("lanes_sub", "lanes_sub_atomic"),
        };
        let (lets, v) = (&chosen.lets, quote!(, __v));
        let add = self.accessed(chosen, add, &v, place);
        if !self.around.atomic.contains(&place.var) {
            return quote!({ let __v = #pack; #lets #add; });
        }
        let atomic = self.accessed(chosen, atomic, &v, place);
        quote!({ let __v = #pack; #lets if __atomic { #atomic; } else { #add; } })
    }

    /// Xors a pack into elements, one for each lane.
    pub fn xor_each(&mut self, chosen: &Chosen, pack: &TokenStream, place: &Place) -> TokenStream {
        let (lets, xor) = (&chosen.lets, self.accessed(chosen, "lanes_xor", &quote!(, __v), place));
        quote!({ let __v = #pack; #lets #xor; })
    }
}

impl Chosen {
    /// Code that names the indices.
    pub fn lets(&self) -> &TokenStream {
        &self.lets
    }

    /// Whether a path leads to plain elements, not to parts of them.
    pub fn is_plain(&self, place: &Place) -> bool {
        !self.packs && self.depth == place.path.len()
    }
}

fn as_handle(p: &TokenStream, array: &TokenStream, reach: Reach) -> TokenStream {
    match reach {
        Reach::Read => quote!(#p::Lend::reader(&#array)),
        Reach::Write | Reach::Atomic => quote!(#p::Lend::writer(&mut #array)),
    }
}
