//! The statement that a machine is at, as a program of its own: for running it elsewhere on the same
//! values.

use super::code::OpKind;
use super::frame::Frame;
use super::machine::Machine;
use crate::ir::{
    Access, Expr, Function, Mode, Module, Place, Stmt, StmtKind, Type, UpdateOp, Var, VarId, VarKind,
};
use crate::value::{Data, Value};
use std::collections::{BTreeMap, BTreeSet};

/// A program of one statement, and the values of the variables that it touches.
pub(crate) struct Probe {
    /// The program; its entry has these variables as parameters.
    pub module: Module,
    /// Their names.
    pub names: Vec<String>,
    /// Their values before the statement.
    pub values: Vec<Data>,
}

/// What the machine is at, for somebody who runs the same elsewhere.
pub(crate) enum Next {
    /// A parallel loop, before its first iteration, and the loop as a program.
    Loop(Probe),
    /// A statement or an expression that is evaluated, as a program.
    Statement(Probe),
    /// Control, or moves that compute nothing.
    Nothing,
}

impl Machine<'_> {
    /// How many functions and loops the machine is in.
    pub(crate) fn depth(&self) -> (usize, usize) {
        (self.frames.len(), self.frames.last().map_or(0, |f| f.loops.len()))
    }

    /// What comes next.
    pub(crate) fn upcoming(&self) -> Next {
        let Some(frame) = self.frames.last() else { return Next::Nothing };
        let Some(op) = frame.program.ops.get(frame.pc) else { return Next::Nothing };
        let statement = |kind| Next::of(self.probe(frame, Stmt::new(kind)), Next::Statement);
        match &op.kind {
            OpKind::Update { op, place, expr } => {
                statement(StmtKind::Update { op: *op, place: place.clone(), expr: expr.clone() })
            }
            OpKind::Instr { instr, places, operands } => {
                let (places, operands) = (places.clone(), operands.clone());
                statement(StmtKind::Instr { instr: *instr, places, operands })
            }
            OpKind::LetBegin { var, expr } | OpKind::AncillaBegin { var, init: expr, .. } => {
                let ty = frame.program.function.var(*var).ty.clone();
                Next::of(self.evaluation(frame, expr, ty), Next::Statement)
            }
            OpKind::IfBegin { cond, .. } | OpKind::WhileBegin { cond, .. } => {
                Next::of(self.evaluation(frame, cond, Type::BOOL), Next::Statement)
            }
            OpKind::ForBegin { parallel: Some(parallel), .. } => {
                Next::of(self.probe(frame, parallel.statement.clone()), Next::Loop)
            }
            OpKind::ForBegin { parallel: None, .. }
            | OpKind::Push { .. }
            | OpKind::Pop { .. }
            | OpKind::Release { .. }
            | OpKind::External
            | OpKind::Call { .. }
            | OpKind::LetEnd { .. }
            | OpKind::AncillaEnd { .. }
            | OpKind::IfMiddle { .. }
            | OpKind::IfEnd { .. }
            | OpKind::WhileEnd { .. }
            | OpKind::ForEnd { .. } => Next::Nothing,
        }
    }

    /// A program that adds the value of an expression to a zero; of scalars only.
    fn evaluation(&self, frame: &Frame, expr: &Expr, ty: Type) -> Option<Probe> {
        let value = self.evaluator(super::eval::Watch::Nothing).ok()?.eval(expr).ok()?;
        let Data::Scalar(scalar) = frame.generics.settle(self.globals.module, &ty, value) else {
            return None;
        };
        let op = if matches!(scalar, Value::Bool(_)) { UpdateOp::Xor } else { UpdateOp::Add };
        let mut function = frame.program.function.clone();
        let kind = VarKind::Param(Mode::Write);
        let var = function.add_var(Var { name: "value".into(), ty, kind, span: expr.span });
        let kind = StmtKind::Update { op, place: Place::var(var), expr: expr.clone() };
        let zero = Data::Scalar(scalar).zero_like();
        self.program_of(frame, function, Stmt::new(kind), &[(var, zero)])
    }

    fn probe(&self, frame: &Frame, stmt: Stmt) -> Option<Probe> {
        self.program_of(frame, frame.program.function.clone(), stmt, &[])
    }

    /// The program of a statement, on the variables that it touches and doesn't declare. `new` ones have
    /// their values with them.
    fn program_of(
        &self,
        frame: &Frame,
        mut function: Function,
        stmt: Stmt,
        new: &[(VarId, Data)],
    ) -> Option<Probe> {
        let mut bound = BTreeSet::new();
        stmt.add_bound(&mut bound);
        let mut modes = BTreeMap::new();
        stmt.each_access_deep(&mut |place, access| {
            let mode = modes.entry(place.var).or_insert(Mode::Read);
            if access != Access::Read && !bound.contains(&place.var) {
                *mode = Mode::Write;
            }
        });
        modes.retain(|var, _| !bound.contains(var));
        let (mut names, mut values) = (Vec::new(), Vec::new());
        for (var, mode) in &modes {
            let known = new.iter().find(|(v, _)| v == var).map(|(_, data)| data.clone());
            let value = match known {
                Some(data) => data,
                None => self.memory.read(frame.slots.get(var.0 as usize)?.as_ref()?).into_owned(),
            };
            let declared = function.vars.get_mut(var.0 as usize)?;
            declared.kind = VarKind::Param(*mode);
            names.push(declared.name.clone());
            values.push(value);
        }
        function.params = modes.into_keys().collect();
        function.body = vec![stmt];
        function.checks = false;
        function.name = format!("{} alone", frame.program.links);
        let mut module = self.globals.module.clone();
        if let Some(links) = module.links.get(&frame.program.links).cloned() {
            module.links.insert(function.name.clone(), links);
        }
        module.entry = function.name.clone();
        module.functions.insert(function.name.clone(), function);
        Some(Probe { module, names, values })
    }
}

impl Next {
    fn of(probe: Option<Probe>, kind: fn(Probe) -> Next) -> Next {
        probe.map_or(Next::Nothing, kind)
    }
}
