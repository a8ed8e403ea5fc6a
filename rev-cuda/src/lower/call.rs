//! Calls: the callee's statements with the caller's places.

use std::rc::Rc;

use rev_core::ir::{Arg, ArgValue, Callee, Direction, Function, FunctionPath, Mode};
use rev_core::pass::{Erased, Wanted};
use rev_core::plan::Owned;

use super::generics::Generics;
use super::memory::Loc;
use super::types::ArgumentType;
use super::value::Val;
use super::{Frame, Lower, Outcome};

/// A program to be run with arguments.
pub(super) struct Bound {
    function: Rc<Erased>,
    /// The unique name of the function that it is a program of.
    links: String,
    /// What the function's generics stand for.
    generics: Generics,
    /// What iterations of the loops around the call have of their own.
    owned: Owned,
    /// Where its arguments are.
    locs: Vec<Loc>,
}

impl Lower<'_> {
    /// A call inside a kernel.
    pub fn call(&mut self, callee: &Callee, direction: Direction, args: &[Arg]) -> Outcome<()> {
        let (bound, private) = self.prepare_call(callee, direction, args)?;
        self.run_callee(bound, &|l, f| l.block(&f.body))?;
        private.into_iter().try_for_each(|(from, to)| {
            let sum = self.load(&from)?;
            self.accumulate(true, &to, sum)
        })
    }

    /// The unique name of a called function, and the path written.
    pub fn callee(&mut self, callee: &Callee) -> Outcome<(String, FunctionPath)> {
        match callee {
            Callee::Path(path) => {
                let name = self.module.resolve(&self.frame()?.links, path.as_str());
                Ok((name.to_string(), path.clone()))
            }
            Callee::Param(var) => match self.slot(*var)? {
                Loc::Value(Val::Function(name)) => Ok((name.clone(), name.into())),
                _ => Err(self.unsupported("a call of what isn't a function")),
            },
        }
    }

    /// The callee with its arguments; and for arguments that many threads add to: registers for the callee's sums, and where
    /// they go afterwards.
    pub fn prepare_call(
        &mut self,
        callee: &Callee,
        direction: Direction,
        args: &[Arg],
    ) -> Outcome<(Bound, Vec<(Loc, Loc)>)> {
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
        Ok((self.bind_call(callee, direction, args, locs)?, private))
    }

    /// The callee with arguments at these locations.
    pub fn bind_call(
        &mut self,
        callee: &Callee,
        direction: Direction,
        args: &[Arg],
        locs: Vec<Option<Loc>>,
    ) -> Outcome<Bound> {
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
        let mut owned = Owned::default();
        for (param, arg) in function.params.iter().zip(args) {
            let ArgValue::Place(place) = &arg.value else { continue };
            if let Some(declared) = self.frame()?.owned.declared(place.var).filter(|_| place.path.is_empty())
            {
                owned.insert(*param, declared);
            }
        }
        Ok(Bound { function, links: name, generics, owned, locs })
    }

    /// Runs the callee's statements.
    pub fn run_callee(
        &mut self,
        bound: Bound,
        body: &dyn Fn(&mut Self, &Function) -> Outcome<()>,
    ) -> Outcome<()> {
        let Bound { function, links, generics, owned, locs } = bound;
        let recursive = |f: &Frame| f.function.as_ref().is_some_and(|f| f.name == function.name);
        if self.frames.iter().any(recursive) {
            return Err(self.unsupported(format!("the recursion of `{}`", function.name)));
        }
        let checked = self.frame()?.checked && function.checks;
        let vars: Rc<[_]> = function.vars.clone().into();
        let mut frame = Frame::new(Some(Rc::clone(&function)), vars, links, generics, checked);
        frame.owned = owned;
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
