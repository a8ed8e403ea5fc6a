//! The IR of a function with everything that it calls: what generated code hands to devices that
//! run the IR.

use std::collections::BTreeSet;
use std::mem::ManuallyDrop;
use std::sync::OnceLock;

use rev_core::error::Error;
use rev_core::ir::{Expr, ExprKind, Module, Number};
use rev_core::ops::Func;
use rev_core::pass::Undirected;
use rev_core::scalar::{Num, Scalar};
use rev_core::structure::{Structs, Structure};
use rev_core::text::parse_module;
use rev_core::value::{Data, DynArg, Value};

/// The module about a function, collected when it is first asked for. It is part of a `static`, which is never dropped: so how it is
/// made and dropped is compiled here only, not in each crate that has a function.
#[derive(Default)]
pub struct OwnModule(ManuallyDrop<OnceLock<Module>>);

impl OwnModule {
    /// Not made yet.
    pub const fn new() -> OwnModule {
        OwnModule(ManuallyDrop::new(OnceLock::new()))
    }

    /// The module about the function of a unique name, which adds itself and what it calls.
    pub fn get(&self, entry: &str, collect: fn(&mut Collector)) -> &Module {
        self.0.get_or_init(|| {
            let mut collector = Collector::about(entry);
            collect(&mut collector);
            collector.finish()
        })
    }
}

/// The module of a function's fused program, if there is one.
#[derive(Default)]
pub struct FusedModule(ManuallyDrop<OnceLock<Option<Module>>>);

impl FusedModule {
    /// Not made yet.
    pub const fn new() -> FusedModule {
        FusedModule(ManuallyDrop::new(OnceLock::new()))
    }

    /// The module.
    pub fn get(&self, of: fn() -> &'static Module) -> Option<&Module> {
        self.0.get_or_init(|| of().fused()).as_ref()
    }
}

/// The module of a function's adjoint on numbers.
#[derive(Default)]
pub struct PullbackModule(ManuallyDrop<OnceLock<Result<Module, Undirected>>>);

impl PullbackModule {
    /// Not made yet.
    pub const fn new() -> PullbackModule {
        PullbackModule(ManuallyDrop::new(OnceLock::new()))
    }

    /// The module.
    ///
    /// # Errors
    ///
    /// What the pass says of the function.
    pub fn get(&self, of: fn() -> &'static Module) -> Result<&Module, Error> {
        self.0.get_or_init(|| of().pullback()).as_ref().map_err(|e| e.clone().into())
    }
}

/// A module on its way: functions add themselves and what they call.
#[derive(Debug, Default)]
pub struct Collector {
    module: Module,
    structs: Structs,
    /// Paths that are different constants in different functions.
    ambiguous: BTreeSet<String>,
}

impl Collector {
    /// A module about a function.
    pub fn about(entry: &str) -> Collector {
        let module = Module { entry: entry.to_string(), ..Module::default() };
        Collector { module, ..Collector::default() }
    }

    /// Adds the function or pure function of an embedded text under its unique name. `false` when
    /// it is there already, with all that it calls.
    pub fn add(&mut self, unique: &str, text: &str) -> bool {
        if self.module.functions.contains_key(unique) || self.module.pures.contains_key(unique) {
            return false;
        }
        // the macro has read the text that it printed
        if let Ok(parsed) = parse_module(text) {
            for mut function in parsed.functions.into_values() {
                function.name = unique.to_string();
                self.module.functions.insert(unique.to_string(), function);
            }
            for mut pure in parsed.pures.into_values() {
                pure.name = unique.to_string();
                self.module.pures.insert(unique.to_string(), pure);
            }
        }
        true
    }

    /// Notes what a path means inside a function.
    pub fn link(&mut self, function: &str, path: &str, unique: &str) {
        let links = self.module.links.entry(function.to_string()).or_default();
        links.insert(path.to_string(), unique.to_string());
    }

    /// Adds a struct that a function names by a path, and the structs that it is made of.
    pub fn structure<S: Structure>(&mut self, function: &str, path: &str) {
        S::define(path, &mut self.structs);
        let Module { functions, pures, .. } = &mut self.module;
        self.structs.rename_in(functions.get_mut(function), pures.get_mut(function));
    }

    /// Adds the value of a named constant. A module knows constants by the paths that functions write, so one that is
    /// another number elsewhere isn't known at all: whoever runs the module says that it is missing.
    pub fn constant<T: Scalar>(&mut self, path: &str, value: T) {
        // a number of more digits than a literal has isn't known either
        let Some(number) = number(&value.to_value()) else {
            self.ambiguous.insert(path.to_string());
            return;
        };
        let same = |old: &Number| match (old, number) {
            (Number::Float(a), Number::Float(b)) => a.to_bits() == b.to_bits(),
            (old, new) => *old == new,
        };
        if self.ambiguous.contains(path) {
            return;
        }
        if self.module.constants.get(path).is_some_and(|old| !same(old)) {
            self.module.constants.remove(path);
            self.ambiguous.insert(path.to_string());
            return;
        }
        self.module.constants.insert(path.to_string(), number);
    }

    /// Adds the values of a named constant that is an array of numbers, or of such arrays. Two different ones of one
    /// path are both left out, as constants are.
    pub fn table<T: DynArg>(&mut self, path: &str, values: &T) {
        let Some(table) = tabled(&values.load()).filter(Expr::is_table) else { return };
        if self.ambiguous.contains(path) {
            return;
        }
        // NaN differs from itself, so it is the text that is compared
        let same = |old: &Expr| format!("{old:?}") == format!("{table:?}");
        match self.module.tables.get(path).is_some_and(|old| !same(old)) {
            true => {
                self.module.tables.remove(path);
                self.ambiguous.insert(path.to_string());
            }
            false => {
                self.module.tables.insert(path.to_string(), table);
            }
        }
    }

    /// The module.
    pub fn finish(self) -> Module {
        Module { structs: self.structs.definitions(), ..self.module }
    }
}

/// A value as a number that is written in a program, `None` where that would be another value: a fixed-point number with
/// more digits than an `f64` has.
fn number(value: &Value) -> Option<Number> {
    Some(match (value, value.to_num()) {
        (Value::Bool(b), _) => Number::Bool(*b),
        (_, Num::Int(v)) => Number::Int(v.into()),
        (_, Num::Uint(v)) => Number::Int(v.into()),
        (_, Num::Wide(v)) => Number::Int(v),
        (_, Num::WideUint(v)) => Number::Int(v as i128),
        (_, Num::Float(v) | Num::Complex(v, _)) => Number::Float(v),
        (_, Num::Fixed(v)) => {
            let written = v.to_f64();
            value.same_type(Num::Float(written)).filter(|back| back == value)?;
            Number::Float(written)
        }
    })
}

/// An array of numbers as an expression; `None` for what has other parts.
fn tabled(data: &Data) -> Option<Expr> {
    let literal = |v: &Value| number(v).map(|n| Expr::new(ExprKind::Literal(n, Some(v.ir_type()))));
    Some(match data {
        Data::Scalar(v) => match v.parts() {
            Some((re, im)) => Expr::func(Func::Complex, vec![literal(&re)?, literal(&im)?]),
            None => literal(v)?,
        },
        Data::Array(array) if array.shape.len() == 1 => {
            Expr::new(ExprKind::Array(array.elements.iter().map(tabled).collect::<Option<_>>()?))
        }
        Data::Literal(_)
        | Data::Lanes(_)
        | Data::Array(_)
        | Data::Tuple(_)
        | Data::Struct(_)
        | Data::Stack(_)
        | Data::Function(_)
        | Data::None => return None,
    })
}

/// A reversible function as an argument of a device that runs the IR.
#[derive(Clone, Debug)]
pub struct FunctionArg(String);

impl FunctionArg {
    /// The function of a name.
    pub fn of(name: &str) -> FunctionArg {
        FunctionArg(name.into())
    }

    /// Its adjoint on numbers.
    pub fn adjoint_of(name: &str) -> FunctionArg {
        FunctionArg(rev_core::ir::adjoint_name(name))
    }
}

impl DynArg for FunctionArg {
    fn load(&self) -> Data {
        Data::Function(self.0.as_str().into())
    }
    fn store(&mut self, _: &Data) -> Result<(), Error> {
        Ok(())
    }
}
