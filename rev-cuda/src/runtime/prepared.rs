//! Programs whose arguments stay on the device.

use super::cache::{Compiled, Given};
use super::gpu::{check_shapes, Shared};
use super::marshal::{describe, value_bytes, Packed};
use super::order::Content;
use super::room::Room;
use super::survey::{Known, Survey};
use super::transfer::{stage, unstage, Sample};
use crate::driver::Driver;
use crate::lower::ArgumentType;
use crate::plan::Accumulation;
use rev_core::error::{Cause, Error};
use rev_core::value::DynArg;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

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
        let name = self.compiled.name(k);
        stage(value, &Sample::of(value), ty, self.compiled.key.options.stack_capacity, &mut packed)
            .map_err(|e| about(&name, e))?;
        let room = Room::new(&self.shared.driver, &name, packed.bytes.len())?;
        self.shared.driver.upload(room.address(), &packed.bytes)?;
        let seen = Mutex::new(Seen::of(ty, &packed));
        let shape = packed.shape;
        Ok(DeviceArray { shared: self.shared.clone(), name, ty: ty.clone(), shape, seen, room })
    }

    /// Runs the program. Each argument is an array that [`Prepared::upload`] made, of this program or
    /// of another one on the same device. What the program writes may be passed once only.
    ///
    /// # Errors
    ///
    /// A wrong number of arguments, an array of another type, shape or device, or twice the same, all
    /// found before anything runs; what a kernel found wrong. The arrays' content is unspecified after
    /// the latter. Arrays of other kinds of devices (`Emulator` for `Cuda`) are of another Rust type.
    pub fn run(&self, args: &[&DeviceArray<D>]) -> Result<(), Error> {
        let key = &self.compiled.key;
        if args.len() != key.types.len() {
            return Err(self.arguments(args.len()));
        }
        let names: Vec<String> = (0..args.len()).map(|k| self.compiled.name(k)).collect();
        for ((arg, ty), name) in args.iter().zip(&key.types).zip(&names) {
            if !Arc::ptr_eq(&arg.shared, &self.shared) {
                return Err(self.foreign(arg, name));
            }
            if arg.ty != *ty {
                let operation = format!("argument `{name}`").into();
                let (expected, found) = (describe(ty).into(), describe(&arg.ty));
                return Err(Cause::Type { operation, expected, found }.into());
            }
        }
        let shapes: Vec<&[usize]> = args.iter().map(|a| a.shape.as_slice()).collect();
        check_shapes(key, &names, &shapes)?;
        let contents: Vec<Option<Content>> = args.iter().map(|a| a.content()).collect();
        let integers = self.integers(args)?;
        let compiled = self.compiled_for(args, &integers, &contents)?;
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
        for (k, a) in args.iter().enumerate() {
            if buffers.get(k).is_some_and(|b| b.written) {
                a.forget();
            }
        }
        let given = args.iter().zip(integers).map(|(a, integer)| Given {
            address: a.room.address(),
            shape: a.shape.clone(),
            integer,
        });
        state.loaded.run_knowing(given.collect(), &contents, Vec::new())
    }

    /// The integers among the arguments that the program only reads: the host may have to know them.
    fn integers(&self, args: &[&DeviceArray<D>]) -> Result<Vec<Option<i64>>, Error> {
        let state = self.compiled.lock();
        let buffers = &state.loaded.program().buffers;
        let read = |k: usize| buffers.get(k).is_some_and(|b| !b.written);
        let one = |(k, a): (usize, &&DeviceArray<D>)| if read(k) { a.integer() } else { Ok(None) };
        args.iter().enumerate().map(one).collect()
    }

    /// The program for what is known about these arrays: another one where their sizes, or how often
    /// the numbers of an index array meet, ask for other ways of adding up.
    fn compiled_for(
        &self,
        args: &[&DeviceArray<D>],
        integers: &[Option<i64>],
        contents: &[Option<Content>],
    ) -> Result<Arc<Compiled<D>>, Error> {
        if self.survey.is_empty() {
            return Ok(self.compiled.clone());
        }
        let of = |k: usize| contents.get(k).cloned().flatten().filter(|_| self.survey.is_index(k));
        let known = args.iter().zip(integers).enumerate();
        let known: Vec<Known> = known
            .map(|(k, (a, integer))| Known { shape: a.shape.clone(), integer: *integer, content: of(k) })
            .collect();
        if self.shared.measured(&self.survey, &known) == self.compiled.key.options.measured {
            return Ok(self.compiled.clone());
        }
        self.shared.compile(&self.compiled.module, self.compiled.key.clone(), &self.survey, &known)
    }

    /// An array that another handle uploaded, passed for the argument `name`.
    fn foreign(&self, arg: &DeviceArray<D>, name: &str) -> Error {
        let (own, other) = (self.shared.driver.name(), arg.shared.driver.name());
        let place = if own == other { format!("another handle of `{own}`") } else { format!("`{other}`") };
        let (array, shape, bytes) = (&arg.name, &arg.shape, arg.bytes());
        let reason = format!(
            "`{array}` of shape {shape:?} ({bytes} bytes), passed as `{name}`, is an array of another \
             device: it lies on {place}"
        );
        Cause::Device { device: own.to_string().into(), reason }.into()
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
    seen: Mutex<Seen>,
    room: Room<D>,
}

/// What the host knows of an array's content.
#[derive(Clone)]
enum Seen {
    /// Nothing: it has been written since, or the host never has to know it.
    Nothing,
    /// A scalar, which the host's control flow may depend on.
    Integer(i64),
    /// What may be an index array.
    Indices(Content),
}

impl Seen {
    fn of(ty: &ArgumentType, packed: &Packed) -> Seen {
        match ty {
            ArgumentType::Scalar(_) => packed.integer(ty).map_or(Seen::Nothing, Seen::Integer),
            ArgumentType::Array(..) if may_be_known(ty) => Seen::Indices(Arc::new(packed.bytes.clone())),
            _ => Seen::Nothing,
        }
    }
}

/// Whether it is an integer, or a row of integers.
fn may_be_known(ty: &ArgumentType) -> bool {
    let leaves = ty.leaves();
    let row = matches!(ty, ArgumentType::Scalar(_) | ArgumentType::Array(_, 1));
    row && leaves.len() == 1 && !leaves[0].is_float()
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

    fn seen(&self) -> MutexGuard<'_, Seen> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn content(&self) -> Option<Content> {
        match &*self.seen() {
            Seen::Indices(content) => Some(content.clone()),
            Seen::Nothing | Seen::Integer(_) => None,
        }
    }

    /// The value of an integer without axes. Waits for what has written it since the host knew it.
    fn integer(&self) -> Result<Option<i64>, Error> {
        let mut seen = self.seen();
        match &*seen {
            Seen::Integer(n) => return Ok(Some(*n)),
            Seen::Nothing if self.shape.is_empty() && may_be_known(&self.ty) => {}
            Seen::Nothing | Seen::Indices(_) => return Ok(None),
        }
        *seen = Seen::of(&self.ty, &Packed { shape: Vec::new(), bytes: self.to_bytes()? });
        Ok(match *seen {
            Seen::Integer(n) => Some(n),
            Seen::Nothing | Seen::Indices(_) => None,
        })
    }

    fn forget(&self) {
        *self.seen() = Seen::Nothing;
    }

    /// Copies it to a value of the host of the same type and shape. Waits for what writes it.
    ///
    /// # Errors
    ///
    /// A value of another type or shape, which is then unchanged; a device that is lost.
    pub fn download(&self, into: &mut dyn DynArg) -> Result<(), Error> {
        let mut packed = Packed { shape: self.shape.clone(), bytes: vec![0; self.bytes()] };
        self.shared.driver.download(self.room.address(), &mut packed.bytes)?;
        unstage(&packed, &self.ty, into).map_err(|e| about(&self.name, e))
    }

    /// Replaces its content.
    ///
    /// # Errors
    ///
    /// A value of another type or shape.
    pub fn replace(&mut self, value: &dyn DynArg) -> Result<(), Error> {
        let mut packed = Packed::default();
        let room = self.shape.first().copied().unwrap_or(0);
        stage(value, &Sample::of(value), &self.ty, room, &mut packed).map_err(|e| about(&self.name, e))?;
        self.same_shape(&packed.shape)?;
        self.shared.driver.upload(self.room.address(), &packed.bytes)?;
        *self.seen() = Seen::of(&self.ty, &packed);
        Ok(())
    }

    /// Another array of the device with the same content.
    ///
    /// # Errors
    ///
    /// No room for it, or a device that is lost.
    pub fn try_clone(&self) -> Result<DeviceArray<D>, Error> {
        let bytes = self.bytes();
        let room = Room::new(&self.shared.driver, &self.name, bytes)?;
        self.shared.driver.copy(room.address(), self.room.address(), bytes)?;
        Ok(DeviceArray {
            shared: self.shared.clone(),
            name: self.name.clone(),
            ty: self.ty.clone(),
            shape: self.shape.clone(),
            seen: Mutex::new(self.seen().clone()),
            room,
        })
    }

    /// Takes over the content of another array, within the device.
    ///
    /// # Errors
    ///
    /// An array of another type, shape or device; a device that is lost.
    pub fn copy_from(&mut self, other: &DeviceArray<D>) -> Result<(), Error> {
        if !Arc::ptr_eq(&self.shared, &other.shared) {
            let reason = format!("`{}` and `{}` are arrays of different devices", self.name, other.name);
            let device = self.shared.driver.name().to_string().into();
            return Err(Cause::Device { device, reason }.into());
        }
        if self.ty != other.ty {
            let operation = format!("a copy to `{}`", self.name).into();
            let (expected, found) = (describe(&self.ty).into(), describe(&other.ty));
            return Err(Cause::Type { operation, expected, found }.into());
        }
        self.same_shape(&other.shape)?;
        self.shared.driver.copy(self.room.address(), other.room.address(), self.bytes())?;
        let seen = other.seen().clone();
        *self.seen() = seen;
        Ok(())
    }

    /// Its bytes, as they lie on the device: to be kept in a file. Waits for what writes it.
    ///
    /// # Errors
    ///
    /// A device that is lost.
    pub fn to_bytes(&self) -> Result<Vec<u8>, Error> {
        let mut bytes = vec![0; self.bytes()];
        self.shared.driver.download(self.room.address(), &mut bytes)?;
        Ok(bytes)
    }

    /// Takes over what [`DeviceArray::to_bytes`] gave of an array of the same type and shape.
    ///
    /// # Errors
    ///
    /// Another number of bytes; a device that is lost.
    pub fn set_bytes(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if bytes.len() != self.bytes() {
            return Err(Cause::Shape {
                place: self.name.clone().into(),
                expected: format!("{} bytes", self.bytes()),
                found: format!("{} bytes", bytes.len()),
            }
            .into());
        }
        self.shared.driver.upload(self.room.address(), bytes)?;
        let packed = Packed { shape: self.shape.clone(), bytes: bytes.to_vec() };
        *self.seen() = Seen::of(&self.ty, &packed);
        Ok(())
    }

    fn same_shape(&self, other: &[usize]) -> Result<(), Error> {
        if *other == self.shape {
            return Ok(());
        }
        Err(Cause::Shape {
            place: self.name.clone().into(),
            expected: format!("{:?}", self.shape),
            found: format!("{other:?}"),
        }
        .into())
    }

    /// Fills it with zeros.
    ///
    /// # Errors
    ///
    /// A device that is lost.
    pub fn clear(&mut self) -> Result<(), Error> {
        self.shared.driver.clear(self.room.address(), self.bytes())?;
        self.forget();
        Ok(())
    }
}

/// What is wrong with a value of the host, as an error that names the array.
fn about(name: &str, error: Error) -> Error {
    match error.into_failure().cause {
        Cause::Type { operation: _, expected, found } => {
            Cause::Type { operation: format!("argument `{name}`").into(), expected, found }.into()
        }
        Cause::Shape { place: _, expected, found } => {
            Cause::Shape { place: name.to_string().into(), expected, found }.into()
        }
        other => other.into(),
    }
}
