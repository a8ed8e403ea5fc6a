//! Programs that are compiled already.

use super::execute::Loaded;
use super::marshal::Packed;
use super::order::Indices;
use super::room::Room;
use super::survey::Survey;
use crate::driver::Driver;
use crate::lower::{ArgumentType, LowerOptions};
use crate::plan::Program;
use rev_core::error::Error;
use rev_core::ir::{Direction, Module};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

pub use super::execute::Given;

/// What a program is compiled for, its module apart.
#[derive(Clone, Debug, PartialEq)]
pub struct Key {
    pub direction: Direction,
    pub types: Vec<ArgumentType>,
    pub options: LowerOptions,
}

/// A compiled program.
pub struct Compiled<D: Driver> {
    pub key: Key,
    pub(super) module: Module,
    names: Vec<String>,
    /// The text that it was loaded from.
    pub text: String,
    pub(super) state: Mutex<State<D>>,
}

/// What a run uses.
pub struct State<D: Driver> {
    pub loaded: Loaded<D>,
    /// Device memory for arguments that come from the host.
    pub rooms: Vec<Option<Room<D>>>,
    /// The same values in memory of the host.
    pub staged: Vec<Packed>,
}

impl<D: Driver> Compiled<D> {
    /// The name of an argument.
    pub fn name(&self, k: usize) -> String {
        self.names.get(k).cloned().unwrap_or_else(|| format!("argument {k}"))
    }
}

/// All compiled programs of a device. There are few of them, and comparing modules is cheap beside
/// running one.
pub struct Cache<D: Driver>(Mutex<Vec<Arc<Compiled<D>>>>);

impl<D: Driver> Default for Cache<D> {
    fn default() -> Self {
        Cache(Mutex::new(Vec::new()))
    }
}

impl<D: Driver> Cache<D> {
    fn programs(&self) -> MutexGuard<'_, Vec<Arc<Compiled<D>>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.programs().len()
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.programs().clear();
    }

    /// The program of a module for a key, compiled by `compile` where it isn't there yet.
    ///
    /// # Errors
    ///
    /// What `compile` says, or the driver about the text.
    pub fn get(
        &self,
        module: &Module,
        key: Key,
        indices: &Arc<Indices<D>>,
        compile: impl FnOnce(&Key) -> Result<(Arc<D>, Program, String), Error>,
    ) -> Result<Arc<Compiled<D>>, Error> {
        let mut programs = self.programs();
        if let Some(found) = programs.iter().find(|p| p.key == key && p.module == *module) {
            return Ok(found.clone());
        }
        let (driver, program, text) = compile(&key)?;
        let names = program.buffers.iter().take(program.arguments).map(|b| b.name.clone()).collect();
        let loaded = Loaded::sharing(driver, program, &text, indices.clone())?;
        let state = Mutex::new(State { loaded, rooms: Vec::new(), staged: Vec::new() });
        let compiled = Arc::new(Compiled { key, module: module.clone(), names, text, state });
        programs.push(compiled.clone());
        Ok(compiled)
    }
}

/// The questions about programs that were asked before.
#[derive(Default)]
pub struct Surveys(Mutex<Vec<(Module, Key, Arc<Survey>)>>);

impl Surveys {
    /// The questions about the program of a module for a key, found by `ask` where they aren't known.
    ///
    /// # Errors
    ///
    /// What `ask` says.
    pub fn get(
        &self,
        module: &Module,
        key: &Key,
        ask: impl FnOnce() -> Result<Survey, Error>,
    ) -> Result<Arc<Survey>, Error> {
        let mut known = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((.., survey)) = known.iter().find(|(m, k, _)| k == key && m == module) {
            return Ok(survey.clone());
        }
        let survey = Arc::new(ask()?);
        known.push((module.clone(), key.clone(), survey.clone()));
        Ok(survey)
    }

    /// Forgets all.
    pub fn clear(&self) {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).clear();
    }
}
