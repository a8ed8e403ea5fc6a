//! Expressions: their values, and the places that were read on the way.

use super::contraction::{contract, Factor};
use super::frame::Loop;
use super::func::apply;
use super::generics::Generics;
use super::memory::{step_into, CellId, Location, Memory, StepError};
use crate::error::Cause;
use crate::ir::{
    Expr, ExprKind, Function, FunctionPath, Module, Number, Place, Pure, Step, Type, Var, VarId,
};
use crate::limits;
use crate::ops::{Contraction, Func};
use crate::pass;
use crate::scalar::Num;
use crate::text;
use crate::value::{literal_number, Array, Data, Value};
use std::cell::RefCell;
use std::collections::HashMap;
use std::rc::Rc;
use std::sync::Arc;

/// The module, with the partial derivatives of its pure functions as far as they were asked for.
pub(super) struct Globals<'m> {
    pub module: &'m Module,
    /// The same with the types of its literals, where they are needed.
    pub typed: Option<Rc<Module>>,
    partials: RefCell<HashMap<(String, usize), Rc<Pure>>>,
}

impl<'m> Globals<'m> {
    pub fn new(module: &'m Module) -> Self {
        Globals { module, typed: None, partials: RefCell::default() }
    }

    /// The module whose functions are run.
    pub fn code(&self) -> &Module {
        self.typed.as_deref().unwrap_or(self.module)
    }

    fn pure(&self, caller: &str, path: &str) -> Result<(&str, &Pure), Cause> {
        let name = self.module.resolve(caller, path);
        match self.code().pures.get_key_value(name) {
            Some((name, pure)) => Ok((name, pure)),
            None => Err(Cause::Missing { kind: "pure function".into(), name: name.to_string() }),
        }
    }

    /// The partial derivatives, taken one or more times.
    fn partials(&self, name: &str, pure: &Pure, times: usize) -> Result<Rc<Pure>, Cause> {
        let key = (name.to_string(), times);
        if let Some(known) = self.partials.borrow().get(&key) {
            return Ok(known.clone());
        }
        let derived = Rc::new(match times {
            0 | 1 => pass::partials(pure)?,
            _ => pass::partials(&*self.partials(name, pure, times - 1)?)?,
        });
        self.partials.borrow_mut().insert(key, derived.clone());
        Ok(derived)
    }
}

/// Which reads are recorded.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Watch {
    Nothing,
    Cell(CellId),
    Everything,
}

/// The names that an expression may use.
#[derive(Clone, Copy)]
pub(super) struct Scope<'a> {
    /// The unique name by which the module knows what paths in the code mean.
    pub links: &'a str,
    /// The function, for messages; none inside pure functions.
    pub function: Option<&'a Function>,
    pub vars: &'a [Var],
    pub generics: &'a Generics,
    /// Where the variables are; empty inside pure functions, which have local names only.
    pub slots: &'a [Option<Location>],
}

/// An evaluation.
pub(super) struct Evaluator<'a> {
    pub globals: &'a Globals<'a>,
    pub memory: &'a Memory,
    pub scope: Scope<'a>,
    pub watch: Watch,
    /// Whether sums have the order of [`crate::tree`].
    pub deterministic: bool,
    /// The loops that the statement is in.
    pub loops: &'a [Loop],
    /// The places read, as far as they are watched.
    pub reads: Vec<(Location, Place)>,
    /// Local names of expressions, innermost last.
    pub locals: Vec<(VarId, Data)>,
    /// How many calls of pure functions it is inside.
    pures: usize,
}

impl<'a> Evaluator<'a> {
    pub fn new(globals: &'a Globals<'a>, memory: &'a Memory, scope: Scope<'a>) -> Self {
        Evaluator {
            globals,
            memory,
            scope,
            watch: Watch::Nothing,
            deterministic: false,
            loops: &[],
            reads: Vec::new(),
            locals: Vec::new(),
            pures: 0,
        }
    }

    /// The same with reads recorded.
    pub fn watching(mut self, watch: Watch) -> Self {
        self.watch = watch;
        self
    }

    /// A place as the program writes it.
    pub fn text(&self, place: &Place) -> String {
        match self.scope.function {
            Some(f) => text::show(f, place).to_string(),
            None => self.scope.vars.get(place.var.0 as usize).map_or_else(String::new, |v| v.name.clone()),
        }
    }

    /// The value of an expression. However deep it is, there is stack for it.
    pub fn eval(&mut self, e: &Expr) -> Result<Data, Cause> {
        limits::deeper(|| self.eval_here(e))
    }

    fn eval_here(&mut self, e: &Expr) -> Result<Data, Cause> {
        match &e.kind {
            ExprKind::Literal(n, ty) => Ok(self.literal(*n, ty.as_ref())),
            ExprKind::Named(path) => self.constant(path),
            ExprKind::Function(path) => self.function(path),
            ExprKind::Const(name) => match self.scope.generics.constant(name) {
                Some(n) => Ok(Data::scalar(n)),
                None => Err(Cause::Missing { kind: "const parameter".into(), name: name.clone() }),
            },
            ExprKind::Read(place) => self.read(place),
            ExprKind::Len(place, axis) => self.len(place, *axis),
            ExprKind::Func(func, args) => self.func(*func, args),
            ExprKind::Pure(path, args) => self.pure(path, args, false),
            ExprKind::Partials(path, args) => self.pure(path, args, true),
            ExprKind::Cast(inner, ty) => {
                let data = self.eval(inner)?;
                self.cast(data, ty)
            }
            ExprKind::If(cond, a, b) => {
                let branch = if self.truth(cond)? { a } else { b };
                self.eval(branch)
            }
            ExprKind::Block(lets, value) => self.block(lets, value),
            ExprKind::Element(inner, k) => {
                let data = self.eval(inner)?;
                step_into(&data, &Step::Element(*k), &[]).map_err(|e| e.cause(format!("element {k}")))
            }
            ExprKind::Tuple(es) => Ok(Data::Tuple(self.all(es)?)),
            ExprKind::Array(es) => Ok(Data::vector(self.all(es)?)),
            ExprKind::Repeat(inner, n) => {
                let (element, n) = (self.eval(inner)?, self.count(n)?);
                filled(&element, vec![n])
            }
            ExprKind::Fill(inner, shape) => {
                let element = self.eval(inner)?;
                let shape = shape.iter().map(|n| self.count(n)).collect::<Result<Vec<_>, _>>()?;
                filled(&element, shape)
            }
            ExprKind::Zero(ty) => self
                .scope
                .generics
                .zero(self.globals.module, ty)
                .map_err(|name| Cause::Missing { kind: "type".into(), name }),
            ExprKind::ZeroShadow(place) => Ok(self.unwatched(place)?.zero_shadow()),
            ExprKind::ZeroLike(place) => Ok(self.unwatched(place)?.zero_like()),
            ExprKind::EmptyStack => Ok(Data::Stack(Vec::new())),
            ExprKind::Contract(formula, factors) => self.contract(formula, ("the result", &[]), factors),
        }
    }

    /// What a place holds, asked for its shape only.
    fn unwatched(&mut self, place: &Place) -> Result<Data, Cause> {
        let watch = std::mem::replace(&mut self.watch, Watch::Nothing);
        let data = self.read(place);
        self.watch = watch;
        data
    }

    /// A product of arrays for a target of this name and shape.
    pub fn contract(
        &mut self,
        formula: &Contraction,
        target: (&str, &[usize]),
        factors: &[Expr],
    ) -> Result<Data, Cause> {
        let factor = |e: &Expr| {
            let name = match &e.kind {
                ExprKind::Read(place) => self.text(place),
                _ => "a factor".into(),
            };
            Ok(Factor { name, data: self.eval(e)? })
        };
        let factors = factors.iter().map(factor).collect::<Result<Vec<_>, Cause>>()?;
        contract(formula, target, &factors, self.deterministic)
    }

    fn all(&mut self, es: &[Expr]) -> Result<Vec<Data>, Cause> {
        es.iter().map(|e| self.eval(e)).collect()
    }

    /// The value of a condition.
    pub fn truth(&mut self, e: &Expr) -> Result<bool, Cause> {
        match self.eval(e)? {
            Data::Scalar(Value::Bool(b)) | Data::Literal(Number::Bool(b)) => Ok(b),
            other => Err(Cause::Type {
                operation: "a condition".into(),
                expected: "bool".into(),
                found: other.kind(),
            }),
        }
    }

    /// The value of an integer expression.
    pub fn number(&mut self, e: &Expr) -> Result<Num, Cause> {
        match self.eval(e)? {
            Data::Scalar(v) if v.is_integer() => Ok(v.to_num()),
            Data::Literal(n @ Number::Int(_)) => Ok(literal_number(n)),
            other => Err(Cause::Type {
                operation: "an index or bound".into(),
                expected: "an integer".into(),
                found: other.kind(),
            }),
        }
    }

    /// The value of an expression that counts.
    pub fn count(&mut self, e: &Expr) -> Result<usize, Cause> {
        let n = self.number(e)?;
        let count = Value::from_num(n, &Type::Scalar(crate::ir::ScalarType::I128)).and_then(|v| v.to_usize());
        count.ok_or_else(|| Cause::Shape {
            place: "an array".into(),
            expected: "a length".into(),
            found: format!("{n:?}"),
        })
    }

    fn literal(&self, n: Number, ty: Option<&Type>) -> Data {
        match ty {
            Some(ty) => self.scope.generics.settle(self.globals.module, ty, Data::Literal(n)),
            None => match n {
                Number::Bool(b) => Data::scalar(b),
                Number::Int(_) | Number::Float(_) => Data::Literal(n),
            },
        }
    }

    /// A named constant.
    fn constant(&self, path: &str) -> Result<Data, Cause> {
        let module = self.globals.module;
        let name = module.resolve(self.scope.links, path);
        if let Some(n) = module.constants.get(path).or_else(|| module.constants.get(name)) {
            return Ok(self.literal(*n, None));
        }
        if let Some(table) = module.tables.get(path) {
            return self.table(table);
        }
        // in a text a function may have a constant's name
        if module.functions.contains_key(name) {
            return Ok(Data::Function(Arc::from(name)));
        }
        Err(Cause::Missing { kind: "constant".into(), name: path.to_string() })
    }

    /// A function that is given as an argument.
    fn function(&self, path: &FunctionPath) -> Result<Data, Cause> {
        let module = self.globals.module;
        let name = module.resolve(self.scope.links, path.as_str());
        match module.functions.contains_key(name) {
            true => Ok(Data::Function(Arc::from(name))),
            false => Err(Cause::Missing { kind: "function".into(), name: path.to_string() }),
        }
    }

    /// The value of a table, or of a number in one.
    fn table(&self, e: &Expr) -> Result<Data, Cause> {
        let entries = |es: &[Expr]| es.iter().map(|e| self.table(e)).collect::<Result<Vec<_>, _>>();
        match &e.kind {
            ExprKind::Array(es) => Ok(Data::vector(entries(es)?)),
            ExprKind::Literal(n, ty) => Ok(self.literal(*n, ty.as_ref())),
            ExprKind::Func(func, args) => apply(*func, &entries(args)?),
            _ => Err(Cause::Missing { kind: "constant".into(), name: "of a table".into() }),
        }
    }

    /// The value of a local name.
    pub fn local(&self, var: VarId) -> Option<&Data> {
        self.locals.iter().rev().find(|(v, _)| *v == var).map(|(_, d)| d)
    }

    fn read(&mut self, place: &Place) -> Result<Data, Cause> {
        if let Some(data) = self.local(place.var) {
            let mut data = data.clone();
            for step in &place.path {
                let indices = self.indices(step)?;
                data = step_into(&data, step, &indices).map_err(|e| e.cause(self.text(place)))?;
            }
            return Ok(data);
        }
        let at = self.locate(place)?;
        let data = self.memory.read(&at).into_owned();
        if self.watch == Watch::Everything || self.watch == Watch::Cell(at.cell) {
            self.reads.push((at, place.clone()));
        }
        Ok(data)
    }

    /// Where a place is.
    pub fn locate(&mut self, place: &Place) -> Result<Location, Cause> {
        let root = self.slot(place.var)?;
        self.locate_from(root, place)
    }

    /// Where a place is, with another location for its variable.
    pub fn locate_from(&mut self, root: Location, place: &Place) -> Result<Location, Cause> {
        let mut at = root.clone();
        for step in &place.path {
            let indices = self.indices(step)?;
            at = self.memory.step(&at, step, &indices).map_err(|e: StepError| e.cause(self.text(place)))?;
        }
        self.claim(&root, &at, place)?;
        Ok(at)
    }

    /// Claims elements for the iteration, where the program declares what can't be proven.
    fn claim(&self, root: &Location, at: &Location, place: &Place) -> Result<(), Cause> {
        let claiming = || self.loops.iter().filter_map(|l| Some((l.claims.as_ref()?, l.value)));
        if claiming().next().is_none() || !matches!(place.path.first(), Some(Step::Index(_) | Step::Part(_)))
        {
            return Ok(());
        }
        let elements = at.elements_of(root);
        match claiming().all(|(claims, iteration)| claims.take(place.var, &elements, iteration)) {
            true => Ok(()),
            false => Err(Cause::Alias {
                first: self.text(place).into(),
                second: "an element that another iteration uses".into(),
            }),
        }
    }

    /// Where a variable is.
    pub fn slot(&self, var: VarId) -> Result<Location, Cause> {
        let slot = self.scope.slots.get(var.0 as usize).and_then(Option::clone);
        slot.ok_or_else(|| Cause::Missing {
            kind: "variable in scope".into(),
            name: self.scope.vars.get(var.0 as usize).map_or_else(|| format!("{var:?}"), |v| v.name.clone()),
        })
    }

    /// The numbers of a step's indices.
    pub fn indices(&mut self, step: &Step) -> Result<Vec<Num>, Cause> {
        step.exprs().map(|e| self.number(e)).collect()
    }

    fn len(&mut self, place: &Place, axis: Option<u32>) -> Result<Data, Cause> {
        let shape = match self.local(place.var) {
            Some(_) => match self.read(place)? {
                Data::Array(a) => Some(a.shape),
                _ => None,
            },
            None => {
                let at = self.locate(place)?;
                self.memory.shape(&at)
            }
        };
        let n = shape.as_ref().and_then(|shape| match axis {
            None => Some(shape.iter().product()),
            Some(k) => shape.get(k as usize).copied(),
        });
        n.map(Data::scalar).ok_or_else(|| Cause::Type {
            operation: "a length".into(),
            expected: "an array with that axis".into(),
            found: self.text(place),
        })
    }

    /// `&&` and `||` evaluate the second side only where the first doesn't decide.
    fn func(&mut self, func: Func, args: &[Expr]) -> Result<Data, Cause> {
        if let (Func::And | Func::Or, [a, b]) = (func, args) {
            let decided = self.truth(a)?;
            return if decided == (func == Func::Or) {
                Ok(Data::scalar(decided))
            } else {
                self.truth(b).map(Data::scalar)
            };
        }
        let args = self.all(args)?;
        apply(func, &args)
    }

    /// A pure function, or its partial derivatives, at the arguments.
    fn pure(&mut self, path: &FunctionPath, args: &[Expr], partials: bool) -> Result<Data, Cause> {
        let args = self.all(args)?;
        self.pure_of(path, args, usize::from(partials))
    }

    /// The same of values, with partial derivatives taken so many times more than the path says.
    pub fn pure_of(&self, path: &FunctionPath, args: Vec<Data>, more: usize) -> Result<Data, Cause> {
        let (of, taken) = path.taken_partials();
        let times = taken + more;
        let (name, pure) = self.globals.pure(self.scope.links, of)?;
        if self.pures == self.globals.module.pures.len() {
            return Err(Cause::Rejected(format!("the pure function `{name}` calls itself")));
        }
        if args.len() != pure.params.len() {
            return Err(Cause::Arguments {
                function: name.into(),
                expected: pure.params.len(),
                found: args.len(),
            });
        }
        let module = self.globals.module;
        let mut generics = Generics::default();
        let types = || pure.params.iter().map(|p| &pure.vars[p.0 as usize].ty);
        types().zip(&args).for_each(|(ty, arg)| generics.learn(module, ty, arg));
        generics.learn_written(&pure.generics, path, self.scope.generics);
        let args: Vec<Data> = types().zip(args).map(|(ty, arg)| generics.settle(module, ty, arg)).collect();
        let derived;
        let code = if times > 0 {
            derived = self.globals.partials(name, pure, times)?;
            &*derived
        } else {
            pure
        };
        let scope = Scope { links: name, function: None, vars: &code.vars, generics: &generics, slots: &[] };
        let mut inner = Evaluator::new(self.globals, self.memory, scope);
        inner.pures = self.pures + 1;
        inner.locals = pure.params.iter().copied().zip(args).collect();
        let value = inner.eval(&code.result)?;
        Ok(generics.settle(module, &code.result_type, value))
    }

    fn block(&mut self, lets: &[(VarId, Expr)], value: &Expr) -> Result<Data, Cause> {
        let depth = self.locals.len();
        let mut run = || {
            for (var, e) in lets {
                let data = self.eval(e)?;
                let data = self.settled(*var, data);
                self.locals.push((*var, data));
            }
            self.eval(value)
        };
        let result = run();
        self.locals.truncate(depth);
        result
    }

    /// A value in the type of a name, where that is known.
    pub fn settled(&self, var: VarId, data: Data) -> Data {
        let ty = &self.scope.vars[var.0 as usize].ty;
        self.scope.generics.settle(self.globals.module, ty, data)
    }

    /// A conversion. To a type that isn't known it gives a number that takes the type of what it
    /// meets.
    pub fn cast(&self, data: Data, ty: &Type) -> Result<Data, Cause> {
        let scalar = match ty {
            Type::Shadow(of) => self.scope.generics.cotangent(of),
            _ => self.scope.generics.scalar(ty),
        };
        let to = |n: Num| match &scalar {
            Some(ty) => Value::from_num(n, ty).map(Data::Scalar),
            None => Some(match n {
                Num::Int(v) => Data::Literal(Number::Int(v.into())),
                Num::Uint(v) => Data::Literal(Number::Int(v.into())),
                Num::Wide(v) => Data::Literal(Number::Int(v)),
                Num::WideUint(_) | Num::Float(_) => Data::Literal(Number::Float(n.to_f64())),
                Num::Fixed(_) | Num::Complex(..) => data.clone(),
            }),
        };
        let cast = match (&data, ty) {
            (Data::None, _) => Some(Data::None),
            (Data::Scalar(v), Type::Shadow(_)) if v.is_inactive() => Some(Data::None),
            (Data::Scalar(v), _) => to(v.to_num()),
            (Data::Literal(n), _) => to(literal_number(*n)),
            (Data::Lanes(l), _) => match &scalar {
                Some(ty) => {
                    l.iter().map(|v| Value::from_num(v.to_num(), ty)).collect::<Option<_>>().map(Data::Lanes)
                }
                None => Some(data.clone()),
            },
            _ => None,
        };
        cast.ok_or_else(|| Cause::Type {
            operation: "a conversion".into(),
            expected: "a number".into(),
            found: data.kind(),
        })
    }
}

/// An array of equal elements, if there is memory for as many.
pub(super) fn filled(element: &Data, shape: Vec<usize>) -> Result<Data, Cause> {
    let none = || Cause::Device { device: "interpreter".into(), reason: "out of memory".into() };
    Array::filled(element, shape).map(Data::Array).ok_or_else(none)
}
