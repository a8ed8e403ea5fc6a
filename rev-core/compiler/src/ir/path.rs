//! How a program names a function: the path as written, the generic arguments, and what of the function is meant.
//!
//! This is the one place that knows the text of it, `m::f::<f64,3>::tangent::adjoint`, and how names of functions that passes
//! make follow from those of the functions that they are made of.

use std::borrow::Borrow;
use std::fmt;

use super::{ScalarType, Type};
use crate::pass::HIGHEST_ORDER;

/// A function that is made of another one, and which a path names behind that one's.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Derived {
    /// `f::inverse`
    Inverse,
    /// `f::adjoint`: behind the name of a program, the adjoint with shadows; behind the path of a call, the adjoint as a function
    /// ([`pullback`](crate::pass::pullback)).
    Adjoint,
    /// `f::pullback`: the adjoint as a function, in the form that is only run.
    Pullback,
    /// `f::gradient`
    Gradient,
    /// `f::tangent`
    Tangent,
    /// `f::taylor3`: the Taylor coefficients up to an order, from 2 on.
    Taylor(usize),
    /// `f::fused`: the function with its adjoint in one, called like the adjoint.
    Fused,
    /// `f::shadows`: the adjoint that restores no state, called like the adjoint.
    Shadows,
    /// `f::erased`: the function without its dead code.
    Erased,
    /// `f::partials`: the partial derivatives of a pure function.
    Partials,
}

impl Derived {
    const ALL_BUT_TAYLOR: [Derived; 9] = [
        Derived::Inverse,
        Derived::Adjoint,
        Derived::Pullback,
        Derived::Gradient,
        Derived::Tangent,
        Derived::Fused,
        Derived::Shadows,
        Derived::Erased,
        Derived::Partials,
    ];

    /// What gives the Taylor coefficients up to an order, at least 1: of the first order the tangent.
    pub fn of_order(order: usize) -> Derived {
        match order {
            1 => Derived::Tangent,
            order => Derived::Taylor(order),
        }
    }

    /// Up to which order it gives Taylor coefficients: 1 for a tangent.
    pub fn order(self) -> Option<usize> {
        match self {
            Derived::Tangent => Some(1),
            Derived::Taylor(order) => Some(order),
            Derived::Inverse
            | Derived::Adjoint
            | Derived::Pullback
            | Derived::Gradient
            | Derived::Fused
            | Derived::Shadows
            | Derived::Erased
            | Derived::Partials => None,
        }
    }

    /// What a segment of a path means behind that of a function.
    pub fn from_name(segment: &str) -> Option<Derived> {
        let taylor = (2..=HIGHEST_ORDER).map(Derived::Taylor);
        Derived::ALL_BUT_TAYLOR.into_iter().chain(taylor).find(|derived| derived.is(segment))
    }

    fn is(self, segment: &str) -> bool {
        match self {
            Derived::Taylor(_) => segment == self.to_string(),
            other => segment == other.word(),
        }
    }

    fn word(self) -> &'static str {
        match self {
            Derived::Inverse => "inverse",
            Derived::Adjoint => "adjoint",
            Derived::Pullback => "pullback",
            Derived::Gradient => "gradient",
            Derived::Tangent => "tangent",
            Derived::Taylor(_) => "taylor",
            Derived::Fused => "fused",
            Derived::Shadows => "shadows",
            Derived::Erased => "erased",
            Derived::Partials => "partials",
        }
    }

    /// The name of this of the function of a name.
    pub fn of(self, name: &str) -> String {
        format!("{name}::{self}")
    }

    /// The name of the function of which the one of a name is this.
    pub fn source(self, name: &str) -> Option<&str> {
        name.rsplit_once("::").filter(|(_, last)| self.is(last)).map(|(of, _)| of)
    }
}

impl fmt::Display for Derived {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())?;
        match self {
            Derived::Taylor(order) => write!(f, "{order}"),
            _ => Ok(()),
        }
    }
}

/// What a path says that a generic parameter stands for.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum PathArgument {
    /// `_`: it is to be found.
    Inferred,
    /// A scalar type; also the name of a const parameter or constant, which only the parameter tells from one.
    Type(Type),
    /// A length.
    Number(u64),
}

impl PathArgument {
    fn new(text: &str) -> PathArgument {
        match text {
            "_" => PathArgument::Inferred,
            _ => text.parse().map_or_else(|_| PathArgument::Type(scalar_type(text)), PathArgument::Number),
        }
    }
}

/// A scalar type as a path writes it. What isn't built in is a name.
fn scalar_type(text: &str) -> Type {
    match text.strip_prefix("Complex<").and_then(|inner| inner.strip_suffix('>')) {
        Some(real) => Type::Complex(Box::new(scalar_type(real.trim()))),
        None => ScalarType::from_name(text).map_or_else(|| Type::Generic(text.into()), Type::Scalar),
    }
}

impl fmt::Display for PathArgument {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PathArgument::Inferred => f.write_str("_"),
            PathArgument::Type(Type::Generic(name)) => f.write_str(name),
            PathArgument::Type(ty) => write!(f, "{ty}"),
            PathArgument::Number(n) => write!(f, "{n}"),
        }
    }
}

/// A function as a program names it: `m::f::<f64,3>::tangent::adjoint`. It compares as its text, by which it can be looked up.
#[derive(Clone)]
pub struct FunctionPath {
    /// All of it, generic arguments before what is derived.
    text: String,
    /// Where the name ends in the text.
    name: usize,
    arguments: Vec<PathArgument>,
    derived: Vec<Derived>,
}

impl FunctionPath {
    /// The path of a text. Generic arguments behind what is derived are those of the function: `f::tangent::<T>` is
    /// `f::<T>::tangent`.
    pub fn new(text: &str) -> FunctionPath {
        let (mut name, mut arguments, mut derived) = (text, None, Vec::new());
        loop {
            if let (None, Some((of, written))) = (&arguments, split_arguments(name)) {
                (name, arguments) = (of, Some(written));
            } else if let Some((of, last)) = split_derived(name) {
                derived.insert(0, last);
                name = of;
            } else {
                break;
            }
        }
        FunctionPath::of_parts(name, arguments.unwrap_or_default(), derived)
    }

    fn of_parts(name: &str, arguments: Vec<PathArgument>, derived: Vec<Derived>) -> FunctionPath {
        let mut text = name.to_string();
        if !arguments.is_empty() {
            let arguments: Vec<String> = arguments.iter().map(PathArgument::to_string).collect();
            text += &format!("::<{}>", arguments.join(","));
        }
        let text = derived.iter().fold(text, |text, derived| derived.of(&text));
        FunctionPath { text, name: name.len(), arguments, derived }
    }

    /// The path without generic arguments and what is derived: `m::f`.
    pub fn name(&self) -> &str {
        &self.text[..self.name]
    }

    /// The function's generic arguments.
    pub fn arguments(&self) -> &[PathArgument] {
        &self.arguments
    }

    /// What is meant of the function, each derived of what stands before it.
    pub fn derived(&self) -> &[Derived] {
        &self.derived
    }

    /// The text of the path.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// What is derived of the function that this names.
    pub fn with(&self, derived: Derived) -> FunctionPath {
        let mut path = self.clone();
        path.text = derived.of(&path.text);
        path.derived.push(derived);
        path
    }

    /// The function of which this names what is derived, if it does.
    pub fn without(&self, derived: Derived) -> Option<FunctionPath> {
        let (last, others) = self.derived.split_last()?;
        let of = || FunctionPath::of_parts(self.name(), self.arguments.clone(), others.to_vec());
        (*last == derived).then(of)
    }

    /// Whether it names what is derived last, and that is this.
    pub fn is(&self, derived: Derived) -> bool {
        self.derived.last() == Some(&derived)
    }

    /// The text of the path of a pure function of the program, and how often partial derivatives were taken of it.
    pub fn taken_partials(&self) -> (&str, usize) {
        let (mut of, mut times) = (self.as_str(), 0);
        while let Some(function) = Derived::Partials.source(of).filter(|_| times < self.derived.len()) {
            (of, times) = (function, times + 1);
        }
        (of, times)
    }

    /// How many arguments it has, by the tangents that were taken last, for each of the function that these are of: 2 for
    /// a tangent, 4 for a tangent's; and what was derived before them.
    pub fn taken_tangents(&self) -> (usize, Option<Derived>) {
        let mut left = self.derived.iter().rev();
        let mut together = 1;
        loop {
            let derived = left.next();
            match derived.and_then(|derived| derived.order()) {
                Some(order) => together *= order + 1,
                None => return (together, derived.copied()),
            }
        }
    }
}

/// `f`, `adjoint` of `f::adjoint`.
fn split_derived(text: &str) -> Option<(&str, Derived)> {
    let (of, last) = text.rsplit_once("::").filter(|(of, _)| !of.is_empty())?;
    Derived::from_name(last).map(|derived| (of, derived))
}

/// `f`, and the arguments, of `f::<T, 3>`.
fn split_arguments(text: &str) -> Option<(&str, Vec<PathArgument>)> {
    let before = text.strip_suffix('>')?;
    let mut depth = 1usize;
    for (at, c) in before.char_indices().rev() {
        match c {
            '>' => depth += 1,
            '<' => depth -= 1,
            _ => {}
        }
        if depth == 0 {
            let path = before[..at].strip_suffix("::").filter(|path| !path.is_empty())?;
            return Some((path, split_list(&before[at + 1..])));
        }
    }
    None
}

/// The arguments of a list: commas inside brackets belong to one of them.
fn split_list(list: &str) -> Vec<PathArgument> {
    if list.trim().is_empty() {
        return Vec::new();
    }
    let mut depth = 0i64;
    let outside = |c: char| {
        match c {
            '<' | '(' | '[' | '{' => depth += 1,
            '>' | ')' | ']' | '}' => depth -= 1,
            _ => {}
        }
        c == ',' && depth == 0
    };
    list.split(outside).map(|argument| PathArgument::new(argument.trim())).collect()
}

impl fmt::Display for FunctionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for FunctionPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&self.text, f)
    }
}

impl From<&str> for FunctionPath {
    fn from(text: &str) -> FunctionPath {
        FunctionPath::new(text)
    }
}

impl From<String> for FunctionPath {
    fn from(text: String) -> FunctionPath {
        FunctionPath::new(&text)
    }
}

impl Borrow<str> for FunctionPath {
    fn borrow(&self) -> &str {
        &self.text
    }
}

impl PartialEq for FunctionPath {
    fn eq(&self, other: &FunctionPath) -> bool {
        self.text == other.text
    }
}

impl Eq for FunctionPath {}

impl std::hash::Hash for FunctionPath {
    fn hash<H: std::hash::Hasher>(&self, state: &mut H) {
        self.text.hash(state)
    }
}

impl PartialOrd for FunctionPath {
    fn partial_cmp(&self, other: &FunctionPath) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for FunctionPath {
    fn cmp(&self, other: &FunctionPath) -> std::cmp::Ordering {
        self.text.cmp(&other.text)
    }
}

/// Whether a path that is written is that of a function: constants and types start with a capital letter. Where a text becomes a
/// program, this is all that tells a function that is passed from a constant.
pub fn is_function_name(path: &str) -> bool {
    let bare = if path.ends_with('>') { path.split("::<").next() } else { None };
    // a length that is computed is a constant by its text
    if bare.unwrap_or(path).contains(|c: char| !c.is_alphanumeric() && !"_:#<>".contains(c)) {
        return false;
    }
    let name = path.rsplit("::").next().unwrap_or(path);
    !name.trim_start_matches("r#").trim_start_matches('_').starts_with(char::is_uppercase)
}

/// What stands before `::adjoint` in the name of an adjoint that is a function of its own, in a module where the one with
/// shadows may be too.
const PLAIN: &str = "plain";

/// What the adjoint of a function of a module is called in the module about adjoints.
pub fn adjoint_name(function: &str) -> String {
    Derived::Adjoint.of(&format!("{function}::{PLAIN}"))
}

/// The name of a function without the modules that it is in: `f::inverse` of `m::f::inverse`, and of `m::__f_tangent`, as the
/// type is called that a derived function is, `f::tangent`.
pub(super) fn own_name(name: &str) -> String {
    let (mut of, mut derived) = (name, String::new());
    while let Some((before, last)) = split_derived(of) {
        derived = format!("::{last}{derived}");
        let plain = before.rsplit_once("::").filter(|(_, word)| last == Derived::Adjoint && *word == PLAIN);
        of = plain.map_or(before, |(function, _)| function);
    }
    format!("{}{derived}", written_name(of.rsplit("::").next().unwrap_or(of)))
}

/// The name of a function as programs write it, from that of its type: `f::tangent` of `__f_tangent`.
fn written_name(name: &str) -> String {
    let derived = name.strip_prefix("__").and_then(|of| of.rsplit_once('_'));
    match derived.and_then(|(of, last)| Some((of, Derived::from_name(last)?))) {
        Some((of, derived)) => derived.of(&written_name(of)),
        None => name.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_is_taken_apart_and_printed_as_it_was() {
        let path = FunctionPath::new("m::f::<f64,Complex<T>,_,3,N>::tangent::adjoint");
        assert_eq!(path.name(), "m::f");
        let complex = Type::Complex(Box::new(Type::Generic("T".into())));
        let arguments = [
            PathArgument::Type(Type::Scalar(ScalarType::F64)),
            PathArgument::Type(complex),
            PathArgument::Inferred,
            PathArgument::Number(3),
            PathArgument::Type(Type::Generic("N".into())),
        ];
        assert_eq!(path.arguments(), arguments);
        assert_eq!(path.derived(), [Derived::Tangent, Derived::Adjoint]);
        assert_eq!(path.to_string(), "m::f::<f64,Complex<T>,_,3,N>::tangent::adjoint");
    }

    #[test]
    fn texts_are_printed_so_that_they_are_read_as_the_same() {
        for (text, printed) in [
            ("f", "f"),
            ("adjoint", "adjoint"),
            ("::adjoint", "::adjoint"),
            ("S::<T>::f", "S::<T>::f"),
            ("f::tangent::<T>", "f::<T>::tangent"),
            ("f::<A>::tangent::<B>", "f::<A>::<B>::tangent"),
            ("f::< f64, (A,B) >", "f::<f64,(A,B)>"),
            ("f::<>", "f"),
            ("f::<T", "f::<T"),
            ("f>", "f>"),
            ("::<T>", "::<T>"),
            ("f::taylor7::taylor1::taylor3", "f::taylor7::taylor1::taylor3"),
        ] {
            let path = FunctionPath::new(text);
            assert_eq!(path.to_string(), printed);
            let again = FunctionPath::new(printed);
            assert_eq!(
                (path.name(), path.arguments(), path.derived()),
                (again.name(), again.arguments(), again.derived()),
                "{text}"
            );
        }
        assert_eq!(FunctionPath::new("f::taylor7::taylor3").derived(), [Derived::Taylor(3)]);
    }

    #[test]
    fn what_is_derived_is_added_and_taken_away() {
        let of = FunctionPath::new("f::<T>");
        let path = of.with(Derived::Tangent).with(Derived::Pullback);
        assert_eq!(path, FunctionPath::new("f::<T>::tangent::pullback"));
        assert_eq!(path.derived(), FunctionPath::new(path.as_str()).derived());
        assert!(path.is(Derived::Pullback) && !path.is(Derived::Tangent));
        assert_eq!(path.without(Derived::Tangent), None);
        assert_eq!(path.without(Derived::Pullback), Some(of.with(Derived::Tangent)));
        assert_eq!(of.with(Derived::Taylor(3)).with(Derived::Tangent).taken_tangents(), (8, None));
        assert_eq!(
            of.with(Derived::Gradient).with(Derived::Tangent).taken_tangents(),
            (2, Some(Derived::Gradient))
        );
        let twice = of.with(Derived::Partials).with(Derived::Partials);
        assert_eq!(twice.taken_partials(), ("f::<T>", 2));
        assert_eq!(of.taken_partials(), ("f::<T>", 0));
    }

    #[test]
    fn names_are_shown_as_programs_write_them() {
        for (name, own) in [
            ("m::f::inverse", "f::inverse"),
            ("m::__f_tangent", "f::tangent"),
            ("m::__f_tangent::adjoint", "f::tangent::adjoint"),
            ("m::f::plain::adjoint", "f::adjoint"),
            ("m::plain", "plain"),
            ("inverse", "inverse"),
        ] {
            assert_eq!(own_name(name), own);
        }
        assert_eq!(adjoint_name("m::f"), "m::f::plain::adjoint");
        assert_eq!(Derived::Inverse.source("f::inverse"), Some("f"));
        assert_eq!(Derived::Inverse.source("f::adjoint"), None);
        assert_eq!(Derived::Taylor(3).source("f::taylor3"), Some("f"));
    }
}
