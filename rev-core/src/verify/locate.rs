//! From which statement on do two devices differ?
//!
//! The reference interpreter walks through every program that a run asks a device for. What it is about
//! to do, one statement or one parallel loop, both devices do alone, on the interpreter's values, and
//! what they give is compared bit by bit. A parallel loop that agrees as a whole isn't looked into; in
//! one that doesn't, the statements are, and if none of them differs, it is the loop itself: the order
//! of its sums, or how the device runs it.
//!
//! Native code can't be stopped between statements: in the place of a native device the interpreter
//! runs them. So a difference between native code and the interpreter is named as such, by comparing
//! those two.

use super::compare::{compare_outputs, Outputs};
use crate::device::{Backend, Device, DynamicDevice};
use crate::error::{Error, Site};
use crate::interp::{Interpreter, Machine, Next, Probe, Progress};
use crate::ir::{Direction, Module};
use crate::tolerance::Options;
use crate::value::{Data, DynArg};
use std::fmt;
use std::sync::{Mutex, PoisonError};

/// The first statement that two devices do differently.
#[derive(Clone, Debug, PartialEq)]
pub struct Located {
    /// The devices' names.
    pub devices: [String; 2],
    /// The statement: its function, source line, and the iteration of each loop around it.
    pub site: Site,
    /// The calls that lead there, the innermost first.
    pub callers: Vec<Site>,
    /// The place that the devices leave with different values; `value` for that of an expression.
    pub place: String,
    /// What each device left there.
    pub values: [String; 2],
}

/// What a search found.
#[derive(Clone, Debug, PartialEq)]
pub struct Search {
    /// The first statement that differs, if one does by itself.
    pub first: Option<Located>,
    /// How many statements and loops were run on both devices.
    pub compared: usize,
    /// How many a device couldn't run alone (their types are known in their function only), and which
    /// the first of them was.
    pub skipped: (usize, Option<Site>),
}

/// Looks for the first statement that two devices do differently, in all programs that a run asks for,
/// in order.
///
/// ```
/// use rev_core::device::Backend;
/// use rev_core::interp::Interpreter;
/// use rev_core::ir::Direction;
/// use rev_core::verify::{locate, Outputs};
///
/// let module = rev_core::text::parse_module("module f fn f(y: &mut f64, x: f64) { y += sin(x) y += exp(x) }")?;
/// let (a, b) = (Interpreter::new(), Interpreter::new());
/// let search = locate([&a, &b], |device| {
///     let mut y = 0.0;
///     if let Backend::Dynamic(device) = device.backend() {
///         device.execute(&module, Direction::FORWARD, &mut [&mut y, &mut 0.5])?;
///     }
///     Ok(Outputs::new().with("y", &y))
/// })?;
/// assert!(search.first.is_none() && search.compared == 2);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
///
/// What the run reports on the interpreter.
pub fn locate(
    devices: [&dyn Device; 2],
    mut run: impl FnMut(&dyn Device) -> Result<Outputs, Error>,
) -> Result<Search, Error> {
    let options = Options { checks: false, ..devices[0].backend().options().clone() };
    let recorder = Recorder { reference: Interpreter::with_options(options), calls: Mutex::default() };
    run(&recorder)?;
    let calls = recorder.calls.into_inner().unwrap_or_else(PoisonError::into_inner);
    let mut search = Search { first: None, compared: 0, skipped: (0, None) };
    for call in calls {
        search.program(devices, &recorder.reference, call)?;
        if search.first.is_some() {
            break;
        }
    }
    Ok(search)
}

/// A program that a device was asked to run.
struct Call {
    module: Module,
    direction: Direction,
    args: Vec<Data>,
}

/// The interpreter, which writes down what it is asked to run.
struct Recorder {
    reference: Interpreter,
    calls: Mutex<Vec<Call>>,
}

impl Device for Recorder {
    fn name(&self) -> &str {
        self.reference.name()
    }

    fn backend(&self) -> Backend<'_> {
        Backend::Dynamic(self)
    }
}

impl DynamicDevice for Recorder {
    fn options(&self) -> &Options {
        &self.reference.options
    }

    fn execute(
        &self,
        module: &Module,
        direction: Direction,
        args: &mut [&mut dyn DynArg],
    ) -> Result<(), Error> {
        let call = Call { module: module.clone(), direction, args: args.iter().map(|a| a.load()).collect() };
        self.calls.lock().unwrap_or_else(PoisonError::into_inner).push(call);
        self.reference.execute(module, direction, args)
    }
}

/// A place with what each device left there.
type Difference = (String, [String; 2]);

impl Search {
    /// Walks through one program.
    fn program(
        &mut self,
        devices: [&dyn Device; 2],
        reference: &Interpreter,
        Call { module, direction, args }: Call,
    ) -> Result<(), Error> {
        let mut machine = Machine::new(&module, &module.entry, direction, args)?
            .with_options(reference.options.clone())
            .forgetting();
        // the outermost loop that differs as a whole: what it is if nothing inside does
        let mut suspect: Option<((usize, usize), Located)> = None;
        loop {
            if let Some((depth, _)) = &suspect {
                if machine.depth() <= *depth {
                    self.first = suspect.map(|(_, located)| located);
                    return Ok(());
                }
            }
            let (probe, whole) = match machine.upcoming() {
                Next::Loop(probe) => (Some(probe), true),
                Next::Statement(probe) => (Some(probe), false),
                Next::Nothing => (None, false),
            };
            let difference = probe.map(|probe| self.alone(devices, reference, &probe, &machine));
            match (difference, whole) {
                (Some(Some(found)), false) => {
                    self.first = Some(located(devices, &machine, found));
                    return Ok(());
                }
                (Some(Some(found)), true) if suspect.is_none() => {
                    suspect = Some((machine.depth(), located(devices, &machine, found)));
                }
                (Some(None), true) => {
                    pass_over(&mut machine)?;
                    continue;
                }
                _ => {}
            }
            if machine.step()? == Progress::AtEnd {
                return Ok(());
            }
        }
    }

    /// Runs a statement on both devices; where they differ first.
    fn alone(
        &mut self,
        devices: [&dyn Device; 2],
        reference: &Interpreter,
        probe: &Probe,
        machine: &Machine<'_>,
    ) -> Option<Difference> {
        let [a, b] = devices.map(|device| on(device, reference, probe));
        let (Ok(a), Ok(b)) = (a, b) else {
            self.skipped.0 += 1;
            self.skipped.1 = self.skipped.1.take().or_else(|| machine.position());
            return None;
        };
        self.compared += 1;
        let worst = |row: super::ValueRow| {
            let worst = row.absolute?;
            Some((format!("{}{}", row.name, worst.place), worst.values))
        };
        compare_outputs(&a, &b).into_iter().find_map(worst)
    }
}

/// What a device makes of a statement; the interpreter in the place of a native device.
fn on(device: &dyn Device, reference: &Interpreter, probe: &Probe) -> Result<Outputs, Error> {
    let mut values = probe.values.clone();
    let mut args: Vec<&mut dyn DynArg> = values.iter_mut().map(|v| v as &mut dyn DynArg).collect();
    match device.backend() {
        Backend::Dynamic(device) => device.execute(&probe.module, Direction::FORWARD, &mut args)?,
        Backend::Native(_) => reference.execute(&probe.module, Direction::FORWARD, &mut args)?,
    }
    Ok(probe.names.iter().zip(&values).fold(Outputs::new(), |all, (name, value)| all.with(name, value)))
}

/// Runs a loop to its end.
fn pass_over(machine: &mut Machine<'_>) -> Result<(), Error> {
    let depth = machine.depth();
    machine.step()?;
    while machine.depth() > depth {
        machine.step()?;
    }
    Ok(())
}

fn located(devices: [&dyn Device; 2], machine: &Machine<'_>, (place, values): Difference) -> Located {
    let mut trace = machine.trace().into_iter();
    Located {
        devices: devices.map(|d| d.name().to_string()),
        site: trace.next().unwrap_or_default(),
        callers: trace.collect(),
        place,
        values,
    }
}

impl fmt::Display for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.first {
            Some(located) => write!(f, "{located}")?,
            None => write!(f, "no statement differs by itself, of {} compared", self.compared)?,
        }
        if let (count @ 1.., Some(site)) = &self.skipped {
            write!(f, "\n{count} couldn't be run alone, the first of them {site}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Located {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let ([a, b], [x, y]) = (&self.devices, &self.values);
        write!(f, "the first difference is {}", self.site)?;
        for site in &self.callers {
            write!(f, "\n  called {site}")?;
        }
        write!(f, "\n  `{}` is {x} on {a} and {y} on {b}", self.place)
    }
}
