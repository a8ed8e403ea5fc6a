//! The IR of a function with everything that it calls: what generated code hands to devices that
//! run the IR.

use std::collections::BTreeSet;
use std::sync::OnceLock;

use rev_core::error::Error;
use rev_core::ir::{Module, Number};
use rev_core::pass::Undirected;
use rev_core::scalar::{Num, Scalar};
use rev_core::structure::{Structs, Structure};
use rev_core::text::parse_module;
use rev_core::value::{Data, DynArg, Value};

/// A module that a pass makes of a function's, when it is first asked for.
#[derive(Default)]
pub struct DerivedModule(OnceLock<Result<Module, Undirected>>);

impl DerivedModule {
    /// Not made yet.
    pub const fn new() -> DerivedModule {
        DerivedModule(OnceLock::new())
    }

    /// The module.
    ///
    /// # Errors
    ///
    /// What the pass says of the function.
    pub fn get(&self, make: impl FnOnce() -> Result<Module, Undirected>) -> Result<&Module, Error> {
        self.0.get_or_init(make).as_ref().map_err(|e| e.clone().into())
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
        let number = match (value.to_value(), value.to_number()) {
            (Value::Bool(b), _) => Number::Bool(b),
            (_, Num::Int(v)) => Number::Int(v.into()),
            (_, Num::Uint(v)) => Number::Int(v.into()),
            (_, Num::Wide(v)) => Number::Int(v),
            (_, Num::WideUint(v)) => Number::Int(v as i128),
            (_, Num::Float(v) | Num::Complex(v, _)) => Number::Float(v),
            (_, Num::Fixed(v)) => Number::Float(v.to_num()),
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

    /// The module.
    pub fn finish(self) -> Module {
        Module { structs: self.structs.definitions(), ..self.module }
    }
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
        FunctionArg(rev_core::pass::adjoint_name(name))
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
