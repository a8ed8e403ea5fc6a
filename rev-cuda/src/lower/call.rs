//! Calls: the callee's statements with the caller's places.

use std::rc::Rc;

use rev_core::ir::{Arg, ArgValue, Callee, Direction, Function, Mode};
use rev_core::pass::{Erased, Wanted};

use super::generics::Generics;
use super::memory::Loc;
use super::types::ArgumentType;
use super::value::Val;
use super::{Frame, Lower, Outcome};

impl Lower<'_> {
    /// A call inside a kernel.
    pub fn call(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) -> Outcome<()> {
        let (function, generics, slots, private) = self.prepare_call(callee, direction, args)?;
        self.run_callee(function, generics, slots, &|l, f| l.block(&f.body))?;
        private.into_iter().try_for_each(|(from, to)| {
            let sum = self.load(&from)?;
            self.accumulate(true, &to, sum)
        })
    }

    /// The unique name of a called function, and the path written.
    pub fn callee(&mut self, callee: &Callee) -> Outcome<(String, String)> {
        match callee {
            Callee::Path(path) => {
                let name = self.module.resolve(&self.frame()?.links, path);
                Ok((name.to_string(), path.clone()))
            }
            Callee::Param(var) => match self.slot(*var)? {
                Loc::Value(Val::Function(name)) => Ok((name.clone(), name)),
                _ => Err(self.unsupported("a call of what isn't a function")),
            },
        }
    }

    /// The callee, what its generics stand for, where its parameters are; and for arguments that many
    /// threads add to: registers for the callee's sums, and where they go afterwards.
    #[allow(clippy::type_complexity)]
    pub fn prepare_call(
        &mut self,
        callee: &Callee,
        direction: Direction,
        args: &[Arg],
    ) -> Outcome<(Rc<Erased>, Generics, Vec<Loc>, Vec<(Loc, Loc)>)> {
        self.check_arguments_apart(args)?;
        let (mut locs, mut private) = (Vec::new(), Vec::new());
        for arg in args {
            let loc = match &arg.value {
                ArgValue::Expr(e) => {
                    let value = self.eval(e)?;
                    Loc::Value(self.freeze(&value))
                }
                ArgValue::Place(place) => {
                    let loc = match arg.mode {
                        Mode::Accumulate => self.locate_target(place)?,
                        Mode::Read | Mode::Write => self.locate(place)?,
                    };
                    let loc = self.freeze_loc(loc);
                    match self.private_sum(&loc)? {
                        Some(own) if arg.mode == Mode::Accumulate => {
                            private.push((own.clone(), loc));
                            own
                        }
                        _ => loc,
                    }
                }
            };
            locs.push(Some(loc));
        }
        let (function, generics, locs) = self.bind_call(callee, direction, args, locs)?;
        Ok((function, generics, locs, private))
    }

    /// The callee, and what its generics stand for with arguments at these locations.
    pub fn bind_call(
        &mut self,
        callee: &Callee,
        direction: Direction,
        args: &[Arg],
        locs: Vec<Option<Loc>>,
    ) -> Outcome<(Rc<Erased>, Generics, Vec<Loc>)> {
        let (name, path) = self.callee(callee)?;
        let forgets = |f: &Rc<Erased>, span| direction.adjoint > 0 && f.forgets(span);
        let frame = self.frame()?;
        let wanted = match frame.function.as_ref().is_some_and(|f| forgets(f, frame.span)) {
            true => Wanted::Shadows,
            false => Wanted::All,
        };
        let function = self.function(&name, direction, wanted)?;
        if args.len() != function.params.len() {
            return Err(self.unsupported(format!("a call of `{name}` with {} arguments", args.len())));
        }
        let locs: Vec<Loc> = locs.into_iter().flatten().collect();
        let mut generics = Generics::default();
        for (param, loc) in function.params.iter().zip(&locs) {
            if let Some(kind) = kind_of(loc) {
                generics.learn(self.module, &function.var(*param).ty, &kind);
            }
        }
        generics.learn_written(&function.generics, &path, &self.frame()?.generics);
        Ok((function, generics, locs))
    }

    /// Runs the callee's statements.
    pub fn run_callee(
        &mut self,
        function: Rc<Erased>,
        generics: Generics,
        locs: Vec<Loc>,
        body: &dyn Fn(&mut Self, &Function) -> Outcome<()>,
    ) -> Outcome<()> {
        let recursive = |f: &Frame| f.function.as_ref().is_some_and(|f| f.name == function.name);
        if self.frames.iter().any(recursive) {
            return Err(self.unsupported(format!("the recursion of `{}`", function.name)));
        }
        let checked = self.frame()?.checked && function.checks;
        let links = source_name(&function.name).to_string();
        let vars: Rc<[_]> = function.vars.clone().into();
        let mut frame = Frame::new(Some(Rc::clone(&function)), vars, links, generics, checked);
        frame.outer_loops = self.loops.len();
        self.frames.push(frame);
        let mut done = Ok(());
        for (param, loc) in function.params.iter().zip(locs) {
            let loc = match loc {
                Loc::Value(val) => match self.settle(*param, val) {
                    Ok(val) => Loc::Value(val),
                    Err(stop) => {
                        done = Err(stop);
                        break;
                    }
                },
                loc => loc,
            };
            self.set_slot(*param, Some(loc))?;
        }
        let done = done.and_then(|()| body(self, &function));
        self.frames.pop();
        done
    }
}

/// The unique name of the function that a program was made from.
fn source_name(mut name: &str) -> &str {
    while let Some(of) = name.strip_suffix("::adjoint").or_else(|| name.strip_suffix("::inverse")) {
        name = of;
    }
    name
}

/// The type of what is at a location, where it is known.
pub(super) fn kind_of(loc: &Loc) -> Option<ArgumentType> {
    match loc {
        Loc::Value(val) | Loc::Registers(val) => val.kind(),
        Loc::Choice(locs, _) => locs.first().and_then(kind_of),
        Loc::Memory(m) => Some(m.kind.clone()),
        Loc::Array(a) => Some(ArgumentType::Array(Box::new(a.kind.clone()), a.shape.len())),
        Loc::Stack(s) => Some(ArgumentType::Stack(Box::new(s.values.kind.clone()))),
    }
}
