//! From the IR to plans and kernels.
//!
//! Lowering runs the program with values that aren't known yet: it goes through the statements in
//! the order of execution, as the reference interpreter does, and what the interpreter would compute
//! it writes down as instructions. Types are those of the arguments, so nothing generic is left; a
//! call is the callee's statements with the caller's places; what is known here already (constants,
//! the trips of short loops, indices into small arrays) leaves no instruction behind.
//!
//! | file | question |
//! | --- | --- |
//! | `types`, `generics` | what the types are |
//! | `atom`, `value`, `memory` | what a scalar, a value, a variable is while lowering |
//! | `builder` | the kernel that is being made |
//! | `eval`, `place`, `coerce` | expressions, places, types of values |
//! | `real`, `wide`, `fixed`, `complex`, `power`, `func`, `math`, `expand` | what functions compute |
//! | `signs`, `quotients` | additions of zero, and what nobody reads; quotients by the same divisor |
//! | `stmt`, `update`, `loops`, `call`, `stack` | statements inside a kernel |
//! | `host`, `host_control` | statements around parallel loops: what the host does |
//! | `parallel`, `nested`, `sums`, `sizes` | a parallel loop as a kernel, with loops right inside of it; what its iterations add to; the lengths of their arrays |
//! | `contents` | what needn't be read from memory because it is known |
//! | `savepoint` | how the host tries whether something can be lowered |
//! | `checks`, `apart`, `held` | what can fail; what must be apart; what variables must hold |
//!
//! # What kernels check
//!
//! Stacks never overflow or underflow silently. Everything else is checked where [`LowerOptions::checks`] asks
//! for it: bounds, integer division by zero (0 otherwise), and what the program itself asserts.

mod apart;
mod atom;
mod builder;
mod call;
mod checks;
mod choice;
mod coerce;
mod complex;
mod contents;
mod eval;
mod expand;
mod fixed;
mod func;
mod generics;
mod half;
mod held;
mod host;
mod host_control;
mod library;
mod loops;
mod math;
mod memory;
mod nested;
mod parallel;
mod place;
mod power;
mod product;
mod quotients;
mod real;
mod savepoint;
mod signs;
mod sizes;
mod spread;
mod stack;
mod stmt;
mod sums;
mod types;
mod update;
mod value;
mod wide;

#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use rev_core::error::{Cause, Error, Site};
use rev_core::ir::{depth, Direction, Function, Module, Place, Span, Var, VarId};
use rev_core::limits::grown;
use rev_core::pass::{self, Erased, Wanted};
use rev_core::plan::Owned;
use rev_core::tolerance::Tolerances;

use crate::kernel::{Inst, Op, Ty};
use crate::measure::Measured;
use crate::plan::{Program, Step, Strategy, Word};

use atom::{on_words, Atom};
use builder::Builder;
use generics::Generics;
pub use library::Library;
use memory::Loc;
pub use types::ArgumentType;
pub(crate) use types::{of_value, scalar_leaves};

/// How a program is lowered.
#[derive(Clone, Debug, PartialEq)]
pub struct LowerOptions {
    /// Whether kernels make the checks that the program asks for, and check bounds.
    pub checks: bool,
    /// Whether shared sums are added up as [`rev_core::tree`] says.
    pub deterministic: bool,
    /// How far a released value may be off.
    pub tolerances: Tolerances,
    /// Threads of a block, a multiple of 32.
    pub block: u32,
    /// The largest number of blocks of a kernel whose threads take several iterations.
    pub max_blocks: u32,
    /// How many values a stack has room for; one that is an argument has at least room for those that
    /// it holds.
    pub stack_capacity: usize,
    /// How every shared sum is added up, instead of what its access pattern suggests. Where it can't
    /// be, lowering fails and says why.
    pub force: Option<Strategy>,
    /// Whether matrix products go to the driver's library.
    pub library: Library,
    /// The same for the sums into variables of some names (`x`, in an adjoint `x_bar`), before
    /// [`LowerOptions::force`].
    pub force_places: Vec<(String, Strategy)>,
    /// What is known about the arguments of the run; a device fills it in.
    pub measured: Measured,
    /// The positions of arguments that hold zeros when the program starts.
    pub zeros: Vec<usize>,
}

impl Default for LowerOptions {
    fn default() -> Self {
        LowerOptions {
            checks: false,
            deterministic: false,
            tolerances: Tolerances::default(),
            block: 128,
            max_blocks: 1024,
            stack_capacity: 256,
            force: None,
            library: Library::Auto,
            force_places: Vec::new(),
            measured: Measured::Nothing,
            zeros: Vec::new(),
        }
    }
}

impl LowerOptions {
    /// How the sums into a variable are to be added up, if anything is said.
    fn forced(&self, name: &str) -> Option<Strategy> {
        let own = self.force_places.iter().rev().find(|(place, _)| place == name);
        own.map(|(_, strategy)| *strategy).or(self.force)
    }
}

/// The plan of the program that `direction` names of the module's entry, for arguments of these
/// types (of an adjoint: each followed by its shadow).
///
/// # Errors
///
/// A function that the module doesn't have or that isn't reversible; a wrong number of arguments; or
/// [`Cause::Device`], which names what a GPU can't run and where it stands.
pub fn lower(
    module: &Module,
    direction: Direction,
    arguments: &[ArgumentType],
    options: &LowerOptions,
) -> Result<Program, Error> {
    let narrow = |ty: Ty| ty.is_half() || ty == Ty::F32;
    let narrow = arguments.iter().any(|a| a.leaves().into_iter().any(narrow));
    let typed = rev_core::check::with_typed_literals(module, &module.entry, direction, narrow);
    let module = typed.as_ref().unwrap_or(module);
    let mut lower = Lower {
        module,
        options,
        plan: Program::default(),
        steps: vec![Vec::new()],
        frames: Vec::new(),
        builder: None,
        serial: None,
        scratch: Word::Const(1),
        programs: HashMap::new(),
        any_order: !options.deterministic && !arguments.iter().any(ArgumentType::has_wide),
        spreads: HashMap::new(),
        products: HashMap::new(),
        loops: Vec::new(),
        width: arguments.iter().find_map(width).unwrap_or(1),
        mems: 0,
        sizes: HashMap::new(),
        measuring: None,
        zeros: HashSet::new(),
        gathered: HashSet::new(),
        refused: savepoint::Refused::default(),
        records: sums::Records::default(),
    };
    // what a program asks of its parts, functions that it calls among them, is recursive too
    let depth = module.functions.values().map(|f| 3 * depth(&f.body)).sum();
    match grown(depth, || lower.program(direction, arguments)) {
        Ok(()) => Ok(lower.plan),
        Err(Stop::Error(error) | Stop::Unsized(error)) => Err(error),
        Err(Stop::NeedsKernel) => Err(lower.located("a statement that neither host nor device can run")),
    }
}

/// How many cotangents the shadows in a type have.
fn width(kind: &ArgumentType) -> Option<usize> {
    match kind {
        ArgumentType::Shadow { width, .. } => Some(*width),
        ArgumentType::Fixed(t, _) | ArgumentType::Array(t, _) | ArgumentType::Stack(t) => width(t),
        ArgumentType::Tuple(ts) => ts.iter().find_map(width),
        ArgumentType::Struct(_, fields) => fields.iter().find_map(|(_, t)| width(t)),
        ArgumentType::Scalar(_)
        | ArgumentType::Complex(_)
        | ArgumentType::Function(_)
        | ArgumentType::None => None,
    }
}

/// Why lowering stops.
#[derive(Debug)]
enum Stop {
    /// It can't be done.
    Error(Error),
    /// It can't be done in a kernel: the length of an array isn't known before it runs.
    Unsized(Error),
    /// The host doesn't know the value: a kernel has to compute it.
    NeedsKernel,
}

type Outcome<T> = Result<T, Stop>;

/// A function that is being lowered: the names that its statements use.
#[derive(Clone)]
struct Frame {
    /// None for a pure function.
    function: Option<Rc<Erased>>,
    vars: Rc<[Var]>,
    /// The unique name under which the module keeps what the function's paths mean.
    links: String,
    generics: Generics,
    slots: Vec<Option<Loc>>,
    redirects: Vec<Redirect>,
    /// What iterations of the parallel loops around have of their own.
    owned: Owned,
    /// The variables whose accesses the parallel loop declares disjoint.
    disjoint: Vec<VarId>,
    /// What iterations claim, inside loops that declare their accesses disjoint.
    claims: Vec<apart::Claims>,
    /// The first place of the instruction that is being lowered, as the program writes it.
    acting: String,
    /// Whether the program asks for checks here.
    checked: bool,
    /// The statement that is being lowered.
    span: Span,
    statement: String,
    /// How many loops were around its call.
    outer_loops: usize,
}

/// Where sums go that iterations share.
#[derive(Clone)]
struct Redirect {
    var: VarId,
    /// The places; all where there are none.
    places: Vec<Place>,
    /// How many steps of a place it stands for, besides the variable.
    prefix: usize,
    loc: Loc,
}

impl Frame {
    fn new(
        function: Option<Rc<Erased>>,
        vars: Rc<[Var]>,
        links: String,
        generics: Generics,
        checked: bool,
    ) -> Frame {
        let slots = vec![None; vars.len()];
        let (span, statement) = (Span::NONE, String::new());
        Frame {
            function,
            vars,
            links,
            generics,
            slots,
            redirects: Vec::new(),
            owned: Owned::default(),
            disjoint: Vec::new(),
            claims: Vec::new(),
            acting: String::new(),
            checked,
            span,
            statement,
            outer_loops: 0,
        }
    }
}

/// A program while it is being lowered.
struct Lower<'m> {
    module: &'m Module,
    options: &'m LowerOptions,
    plan: Program,
    /// The steps of the innermost block of the host, and of those around it.
    steps: Vec<Vec<Step>>,
    /// The functions that are running, the entry first.
    frames: Vec<Frame>,
    /// The kernel that is being made, if one is.
    builder: Option<Builder>,
    /// The kernel of one thread that statements are added to, between parallel loops.
    serial: Option<Builder>,
    /// How many threads the kernel that is being made will have at most: what buffers for each of
    /// them have room for.
    scratch: Word,
    programs: HashMap<(String, Direction, Wanted), Rc<Erased>>,
    /// Whether sums that loops make without saying that they are parallel may have any order. Those of numbers of 128 bits
    /// can't be shared.
    any_order: bool,
    /// Whether functions have loops that many threads can do without saying so.
    spreads: HashMap<String, bool>,
    /// The loops that products of arrays have become, by function and loop variable.
    products: HashMap<(String, VarId), Rc<pass::Expansion>>,
    /// The loops around the statement, outermost first: variable, value, and how many functions were
    /// running.
    loops: Vec<(String, Atom, usize)>,
    /// How many cotangents shadows have.
    width: usize,
    mems: usize,
    /// The largest lengths of the arrays of an iteration, where a kernel has found them.
    sizes: HashMap<sizes::Key, Vec<Word>>,
    /// What such a kernel finds, while it is made.
    measuring: Option<sizes::Measure>,
    /// Arrays to which nothing was added yet since they held zeros.
    zeros: HashSet<usize>,
    /// Memories to one element of which a whole warp may add at once.
    gathered: HashSet<usize>,
    /// What a kernel couldn't be made of.
    refused: savepoint::Refused,
    /// The terms that an iteration keeps.
    records: sums::Records,
}

impl Lower<'_> {
    /// An error about what can't be run on a GPU, with its place.
    fn unsupported(&self, what: impl Into<String>) -> Stop {
        Stop::Error(self.located(what))
    }

    fn located(&self, what: impl Into<String>) -> Error {
        let reason = format!("{} can't be run on a GPU", what.into());
        let error = Error::new(Cause::Device { device: "gpu".into(), reason });
        self.trace().into_iter().fold(error, Error::at)
    }

    /// An error about what can't be, whatever the program is.
    fn defect(&self, what: &str) -> Stop {
        let reason = format!("this is a defect of rev, not of the program, please report it: {what}");
        let error = Error::new(Cause::Device { device: "gpu".into(), reason });
        Stop::Error(self.trace().into_iter().fold(error, Error::at))
    }

    /// The steps since the last list was begun.
    fn taken_steps(&mut self) -> Outcome<Vec<Step>> {
        self.steps.pop().ok_or_else(|| self.defect("a list of steps that was never begun"))
    }

    /// The instructions that something adds to the kernel, on their own.
    fn instructions(&mut self, f: impl FnOnce(&mut Self) -> Outcome<()>) -> Outcome<Vec<Inst>> {
        self.builder()?.begin();
        let done = f(self);
        let made = self.builder()?.end();
        done.map(|()| made)
    }

    /// What the host knows of a number that it has to know.
    fn host_word(&self, atom: &Atom) -> Outcome<Word> {
        atom.word().ok_or_else(|| self.defect("the host needs a number that only a kernel knows"))
    }

    /// The statement, and the calls around it.
    fn trace(&self) -> Vec<Site> {
        let site = |f: &Frame| {
            let function = f.function.as_ref()?;
            Some(Site {
                function: function.own_name().into(),
                file: function.file.clone().into(),
                span: f.span,
                statement: f.statement.clone().into(),
                iterations: Vec::new(),
            })
        };
        self.frames.iter().rev().filter_map(site).collect()
    }

    fn frame(&self) -> Outcome<&Frame> {
        self.frames.last().ok_or_else(|| self.unsupported("a statement outside of a function"))
    }

    fn frame_mut(&mut self) -> Outcome<&mut Frame> {
        if self.frames.is_empty() {
            return Err(self.unsupported("a statement outside of a function"));
        }
        let last = self.frames.len() - 1;
        Ok(&mut self.frames[last])
    }

    fn set_slot(&mut self, var: VarId, loc: Option<Loc>) -> Outcome<()> {
        let frame = self.frame_mut()?;
        if let Some(slot) = frame.slots.get_mut(var.0 as usize) {
            *slot = loc;
        }
        Ok(())
    }

    /// The kernel that is being made. On the host there is none.
    fn builder(&mut self) -> Outcome<&mut Builder> {
        self.builder.as_mut().ok_or(Stop::NeedsKernel)
    }

    /// `op(args)`: known here, known to the host, or an instruction.
    fn op(&mut self, op: Op, ty: Ty, args: &[Atom]) -> Outcome<Atom> {
        let known = atom::fold(op, ty, args).or_else(|| atom::neutral(op, args));
        if let Some(known) = known.or_else(|| on_words(op, ty, args)) {
            return Ok(known);
        }
        if let Some(value) = self.half_op(op, ty, args)? {
            return Ok(value);
        }
        if let (Op::Convert | Op::Bits, [Atom::Word(word, from)]) = (op, args) {
            if from.size() == 8 && ty.size() == 8 && !ty.is_float() {
                return Ok(Atom::Word(Rc::clone(word), ty));
            }
        }
        Ok(self.builder()?.op(op, ty, args))
    }

    /// A number for a new memory.
    fn mem_id(&mut self) -> usize {
        self.mems += 1;
        self.mems
    }

    /// The program of a function in a direction, made on first use, with the types of its variables;
    /// without checks, what is left of it of which somebody reads the result.
    fn function(&mut self, name: &str, direction: Direction, wanted: Wanted) -> Outcome<Rc<Erased>> {
        let key = (name.to_string(), direction, wanted);
        if let Some(known) = self.programs.get(&key) {
            return Ok(Rc::clone(known));
        }
        let mut function = pass::directed(self.module, name, direction).map_err(|e| Stop::Error(e.into()))?;
        if function.vars.iter().any(|v| v.ty.is_partial()) {
            infer(self.module, name, &mut function);
        }
        for made in pass::expand(self.module, &mut function, self.any_order) {
            self.products.insert((function.name.clone(), made.var), Rc::new(made));
        }
        let function = match self.options.checks {
            true => Erased::whole(function),
            false => {
                spread::spread(self.module, name, &mut function, self.any_order);
                pass::erase_program(&function, wanted)
            }
        };
        if let Some(defect) = function.defects.iter().next() {
            return Err(Stop::Error(Cause::Rejected(defect.message.clone()).into()));
        }
        let function = Rc::new(function);
        self.programs.insert(key, Rc::clone(&function));
        Ok(function)
    }
}

/// Completes the types of a function's variables as far as the module tells.
fn infer(module: &Module, name: &str, function: &mut Function) {
    let mut module = module.clone();
    let own = function.name.clone();
    if let Some(links) = module.links.get(name).cloned() {
        module.links.insert(own.clone(), links);
    }
    module.functions.insert(own.clone(), function.clone());
    rev_core::check::infer_module(&mut module);
    if let Some(inferred) = module.functions.remove(&own) {
        for (var, found) in function.vars.iter_mut().zip(inferred.vars) {
            if var.ty.is_partial() {
                var.ty = found.ty;
            }
        }
    }
}
