//! Programs whose arguments stay on the device.

use super::cache::{Compiled, Given};
use super::gpu::{check_shapes, Shared};
use super::marshal::{value_bytes, Packed};
use super::order::Content;
use super::room::Room;
use super::survey::{Known, Survey};
use super::transfer::{stage, unstage, Sample};
use crate::driver::Driver;
use crate::lower::ArgumentType;
use crate::plan::Accumulation;
use rev_core::error::{Cause, Error};
use rev_core::value::DynArg;
use std::sync::{Arc, Mutex, PoisonError};

/// A compiled program that runs on arrays of the device. Nothing is copied and nothing is waited for
/// unless the program itself has to (a loop whose end is computed on the device, a failure to report).
///
/// A forward program and its adjoint share arrays: what one has written is where the other reads it.
pub struct Prepared<D: Driver> {
    shared: Arc<Shared<D>>,
    survey: Arc<Survey>,
    compiled: Arc<Compiled<D>>,
}

impl<D: Driver> Prepared<D> {
    pub(super) fn new(
        shared: Arc<Shared<D>>,
        survey: Arc<Survey>,
        compiled: Arc<Compiled<D>>,
    ) -> Prepared<D> {
        Prepared { shared, survey, compiled }
    }

    /// The PTX text.
    pub fn ptx(&self) -> &str {
        &self.compiled.text
    }

    /// How the sums are added up that iterations share.
    pub fn accumulations(&self) -> Vec<Accumulation> {
        self.compiled.lock().loaded.program().accumulations.clone()
    }

    /// Copies a value to the device, for the program's argument `k`.
    ///
    /// # Errors
    ///
    /// A value of another type, or no room for it.
    pub fn upload(&self, k: usize, value: &dyn DynArg) -> Result<DeviceArray<D>, Error> {
        let Some(ty) = self.compiled.key.types.get(k) else {
            return Err(self.arguments(k + 1));
        };
        let mut packed = Packed::default();
        stage(value, &Sample::of(value), ty, self.compiled.key.options.stack_capacity, &mut packed)?;
        let name = self.compiled.name(k);
        let room = Room::new(&self.shared.driver, &name, packed.bytes.len())?;
        self.shared.driver.upload(room.address(), &packed.bytes)?;
        let integer = packed.integer(ty);
        let content = Mutex::new(content(ty, &packed));
        Ok(DeviceArray {
            shared: self.shared.clone(),
            name,
            ty: ty.clone(),
            shape: packed.shape,
            integer,
            content,
            room,
        })
    }

    /// Runs the program. Each argument is an array that [`Prepared::upload`] made, of this program or
    /// of another one on the same device. What the program writes may be passed once only.
    ///
    /// # Errors
    ///
    /// A wrong number of arguments, an array of another type, shape or device, or twice the same; what
    /// a kernel found wrong. The arrays' content is unspecified after the latter.
    pub fn run(&self, args: &[&DeviceArray<D>]) -> Result<(), Error> {
        let key = &self.compiled.key;
        if args.len() != key.types.len() {
            return Err(self.arguments(args.len()));
        }
        let names: Vec<String> = (0..args.len()).map(|k| self.compiled.name(k)).collect();
        for ((arg, ty), name) in args.iter().zip(&key.types).zip(&names) {
            if !Arc::ptr_eq(&arg.shared, &self.shared) {
                let reason = format!("`{}`, passed as `{name}`, is an array of another device", arg.name);
                let device = self.shared.driver.name().to_string().into();
                return Err(Cause::Device { device, reason }.into());
            }
            if arg.ty != *ty {
                let (expected, found) = (format!("{ty:?}").into(), format!("{:?}", arg.ty));
                return Err(
                    Cause::Type { operation: format!("argument `{name}`").into(), expected, found }.into()
                );
            }
        }
        let shapes: Vec<&[usize]> = args.iter().map(|a| a.shape.as_slice()).collect();
        check_shapes(key, &names, &shapes)?;
        let contents: Vec<Option<Content>> = args.iter().map(|a| a.content()).collect();
        let compiled = self.compiled_for(args, &contents)?;
        let mut state = compiled.lock();
        let buffers = &state.loaded.program().buffers;
        for (k, a) in args.iter().enumerate() {
            for (l, b) in args.iter().enumerate().skip(k + 1) {
                let written = |k: usize| buffers.get(k).is_some_and(|b| b.written);
                if a.room.address() == b.room.address() && (written(k) || written(l)) {
                    let (first, second) = (names[k].clone().into(), names[l].clone().into());
                    return Err(Cause::Alias { first, second }.into());
                }
            }
        }
        let given = |a: &&DeviceArray<D>| Given {
            address: a.room.address(),
            shape: a.shape.clone(),
            integer: a.integer,
        };
        for (k, a) in args.iter().enumerate() {
            if buffers.get(k).is_some_and(|b| b.written) {
                a.forget_content();
            }
        }
        state.loaded.run_knowing(args.iter().map(given).collect(), &contents)
    }

    /// The program for what is known about these arrays: another one where their sizes, or how often
    /// the numbers of an index array meet, ask for other ways of adding up.
    fn compiled_for(
        &self,
        args: &[&DeviceArray<D>],
        contents: &[Option<Content>],
    ) -> Result<Arc<Compiled<D>>, Error> {
        if self.survey.is_empty() {
            return Ok(self.compiled.clone());
        }
        let of = |k: usize| contents.get(k).cloned().flatten().filter(|_| self.survey.is_index(k));
        let known = args.iter().enumerate();
        let known: Vec<Known> = known
            .map(|(k, a)| Known { shape: a.shape.clone(), integer: a.integer, content: of(k) })
            .collect();
        if self.shared.measured(&self.survey, &known) == self.compiled.key.options.measured {
            return Ok(self.compiled.clone());
        }
        self.shared.compile(&self.compiled.module, self.compiled.key.clone(), &self.survey, &known)
    }

    fn arguments(&self, found: usize) -> Error {
        let state = self.compiled.lock();
        let function = state.loaded.program().name.clone();
        Cause::Arguments { function, expected: self.compiled.key.types.len(), found }.into()
    }
}

/// A value in device memory, as a program's argument has it.
pub struct DeviceArray<D: Driver> {
    shared: Arc<Shared<D>>,
    name: String,
    ty: ArgumentType,
    shape: Vec<usize>,
    /// Its value, where the host's control flow may depend on it.
    integer: Option<i64>,
    /// Its bytes, where it may be an index array and nothing has written it since.
    content: Mutex<Option<Content>>,
    room: Room<D>,
}

impl<D: Driver> DeviceArray<D> {
    /// The length along each axis; none for a scalar, tuple or struct; of a stack its capacity.
    pub fn shape(&self) -> &[usize] {
        &self.shape
    }

    /// Its bytes on the device.
    pub fn bytes(&self) -> usize {
        value_bytes(&self.shape, &self.ty)
    }

    fn content(&self) -> Option<Content> {
        self.content.lock().unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn forget_content(&self) {
        *self.content.lock().unwrap_or_else(PoisonError::into_inner) = None;
    }

    /// Copies it to a value of the host of the same type and shape. Waits for what writes it.
    ///
    /// # Errors
    ///
    /// A value of another type or shape, which is then unchanged; a device that is lost.
    pub fn download(&self, into: &mut dyn DynArg) -> Result<(), Error> {
        let mut packed = Packed { shape: self.shape.clone(), bytes: vec![0; self.bytes()] };
        self.shared.driver.download(self.room.address(), &mut packed.bytes)?;
        unstage(&packed, &self.ty, into)
    }

    /// Replaces its content.
    ///
    /// # Errors
    ///
    /// A value of another type or shape.
    pub fn replace(&mut self, value: &dyn DynArg) -> Result<(), Error> {
        let mut packed = Packed::default();
        let room = self.shape.first().copied().unwrap_or(0);
        stage(value, &Sample::of(value), &self.ty, room, &mut packed)?;
        if packed.shape != self.shape {
            return Err(Cause::Shape {
                place: self.name.clone().into(),
                expected: format!("{:?}", self.shape),
                found: format!("{:?}", packed.shape),
            }
            .into());
        }
        self.shared.driver.upload(self.room.address(), &packed.bytes)?;
        self.integer = packed.integer(&self.ty);
        *self.content.lock().unwrap_or_else(PoisonError::into_inner) = content(&self.ty, &packed);
        Ok(())
    }

    /// Fills it with zeros.
    ///
    /// # Errors
    ///
    /// A device that is lost.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.shared.driver.clear(self.room.address(), self.bytes())?;
        self.integer = self.integer.map(|_| 0);
        self.forget_content();
        Ok(())
    }
}

/// The bytes of what may be an index array.
fn content(ty: &ArgumentType, packed: &Packed) -> Option<Content> {
    let leaves = ty.leaves();
    let integers = matches!(ty, ArgumentType::Array(_, 1)) && leaves.len() == 1 && !leaves[0].is_float();
    integers.then(|| Arc::new(packed.bytes.clone()))
}
