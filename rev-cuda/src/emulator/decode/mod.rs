//! The instruction table: each instruction of the text is looked up, its operands are checked, and
//! it becomes an [`Op`].
//!
//! The table is written from the chapter "Instruction Set" of NVIDIA's PTX ISA manual: which
//! modifiers an instruction takes and in which order, which types, the sizes of its operands (the
//! manual's section on operand size exceeding instruction-type size), from which version of the
//! language and which compute capability on it exists, and what it computes. It knows nothing of
//! how rev's generator prints.

mod arithmetic;
mod carry;
mod compare;
mod convert;
mod float;
mod integer;
pub(crate) mod lanes;
mod memory;
mod move_;
mod operands;
mod warp;

pub(crate) use convert::Conversion;
pub(crate) use integer::inserted;

use super::code::{Code, Condition, Inst, Op, Pred, Reg, Row, LANES};
use super::memory::Bytes;
use super::syntax::{Entry, Instruction, Item, Module, Operand, Space, Type};
use super::SyntaxError;
use std::collections::HashMap;

/// A declared register.
#[derive(Clone, Copy, Debug)]
enum Register {
    Value(Reg, Type),
    Pred(Pred),
}

/// The most registers that a kernel may declare: 64 MiB for each warp.
pub(crate) const MAX_REGISTERS: usize = 1 << 18;

/// What names mean while a kernel is decoded.
pub(crate) struct Decoder<'a> {
    module: &'a Module,
    line: u32,
    scopes: Vec<HashMap<String, Register>>,
    /// The first one is for results that aren't wanted (`_`).
    register_names: Vec<String>,
    predicate_names: Vec<String>,
    /// How many registers are declared.
    declared: usize,
    constants: Vec<Row>,
    constant_index: HashMap<u64, Reg>,
    params: HashMap<String, (usize, usize)>,
    variables: HashMap<String, (Space, usize)>,
    labels: HashMap<String, u32>,
}

/// An instruction being taken apart: its modifiers from front to back.
pub(crate) struct Form<'a> {
    name: &'a str,
    mods: &'a [String],
    operands: &'a [Operand],
}

impl<'a> Form<'a> {
    /// Takes the next modifier if it is this one.
    fn accept(&mut self, modifier: &str) -> bool {
        let found = self.mods.first().is_some_and(|m| m == modifier);
        if found {
            self.mods = &self.mods[1..];
        }
        found
    }

    /// Takes the next modifier if it is one of these.
    fn one_of<'m>(&mut self, modifiers: &[&'m str]) -> Option<&'m str> {
        let found = modifiers.iter().find(|m| self.mods.first().is_some_and(|n| n == *m))?;
        self.mods = &self.mods[1..];
        Some(found)
    }

    /// Takes the next modifier if it is a type.
    fn accept_type(&mut self) -> Option<Type> {
        let ty = Type::named(self.mods.first()?)?;
        self.mods = &self.mods[1..];
        Some(ty)
    }
}

/// Decodes a kernel.
pub(crate) fn kernel(module: &Module, entry: &Entry) -> Result<Code, SyntaxError> {
    let mut decoder = Decoder {
        module,
        line: entry.line,
        scopes: vec![HashMap::new()],
        register_names: vec!["_".into()],
        predicate_names: vec!["true".into(), "_".into()],
        declared: 0,
        constants: Vec::new(),
        constant_index: HashMap::new(),
        params: HashMap::new(),
        variables: HashMap::new(),
        labels: HashMap::new(),
    };
    let mut param_bytes = 0;
    let mut params = Vec::new();
    for p in &entry.params {
        let at = usize::next_multiple_of(param_bytes, p.align.max(1));
        params.push((at, p.bytes, p.name.clone()));
        param_bytes = at + p.bytes;
        if decoder.params.insert(p.name.clone(), (at, p.bytes)).is_some() {
            return Err(decoder.error(format!("a second parameter `{}`", p.name)));
        }
    }
    let (mut shared, mut local, mut constant) = (0usize, 0usize, Vec::new());
    let own = entry.body.iter().filter_map(|item| match item {
        Item::Variable(v) => Some(v),
        _ => None,
    });
    for variable in module.variables.iter().chain(own) {
        let place = |used: usize| {
            let at = used.next_multiple_of(variable.align.max(1));
            (at, at + variable.bytes)
        };
        let at;
        match variable.space {
            Space::Local => (at, local) = place(local),
            Space::Constant => {
                let end;
                (at, end) = place(constant.len());
                constant.resize(end, 0);
                constant[at..at + variable.initial.len()].copy_from_slice(&variable.initial);
            }
            _ => (at, shared) = place(shared),
        }
        if decoder.variables.insert(variable.name.clone(), (variable.space, at)).is_some() {
            return Err(SyntaxError::new(variable.line, format!("a second variable `{}`", variable.name)));
        }
    }
    decoder.find_labels(entry)?;
    let insts = decoder.body(entry)?;
    Ok(Code {
        name: entry.name.clone(),
        insts,
        registers: decoder.register_names.len(),
        register_names: decoder.register_names,
        predicates: decoder.predicate_names.len(),
        predicate_names: decoder.predicate_names,
        constants: decoder.constants,
        params,
        param_bytes,
        shared_bytes: shared,
        local_bytes: local,
        constant: Bytes::of(&constant),
        max_threads: entry.max_threads,
        required: entry.required,
    })
}

impl Decoder<'_> {
    fn error(&self, message: impl Into<String>) -> SyntaxError {
        SyntaxError::new(self.line, message.into())
    }

    fn find_labels(&mut self, entry: &Entry) -> Result<(), SyntaxError> {
        let mut at = 0;
        for item in &entry.body {
            match item {
                Item::Instruction(_) => at += 1,
                Item::Label(line, name) => {
                    if self.labels.insert(name.clone(), at).is_some() {
                        return Err(SyntaxError::new(*line, format!("a second label `{name}`")));
                    }
                }
                Item::Open | Item::Close | Item::Register { .. } | Item::Variable(_) => {}
            }
        }
        Ok(())
    }

    fn body(&mut self, entry: &Entry) -> Result<Vec<Inst>, SyntaxError> {
        let mut insts = Vec::new();
        for item in &entry.body {
            match item {
                Item::Open => self.scopes.push(HashMap::new()),
                Item::Close => {
                    self.scopes.pop();
                }
                Item::Register { line, ty, name, count } => {
                    self.line = *line;
                    self.declare(*ty, name, *count)?;
                }
                Item::Label(..) | Item::Variable(_) => {}
                Item::Instruction(i) => {
                    self.line = i.line;
                    insts.push(self.instruction(i)?);
                }
            }
        }
        Ok(insts)
    }

    fn declare(&mut self, ty: Type, name: &str, count: Option<u32>) -> Result<(), SyntaxError> {
        self.declared = self.declared.saturating_add(count.map_or(1, |n| n as usize));
        if self.declared > MAX_REGISTERS {
            return Err(self.error(format!("more than {MAX_REGISTERS} registers in a kernel")));
        }
        let names = match count {
            None => vec![name.to_string()],
            Some(n) => (0..n).map(|k| format!("{name}{k}")).collect(),
        };
        for name in names {
            let register = if ty == Type::PRED {
                self.predicate_names.push(name.clone());
                Register::Pred(self.predicate_names.len() as Pred - 1)
            } else {
                self.register_names.push(name.clone());
                Register::Value(self.register_names.len() as Reg - 1, ty)
            };
            let scope = self.scopes.last_mut();
            if scope.is_some_and(|s| s.insert(name.clone(), register).is_some()) {
                return Err(self.error(format!("a second register `{name}`")));
            }
        }
        Ok(())
    }

    fn instruction(&mut self, i: &Instruction) -> Result<Inst, SyntaxError> {
        let guard = match &i.guard {
            None => None,
            Some(g) => Some(Condition { pred: self.pred(&g.name)?, negated: g.negated }),
        };
        let mut form = Form { name: &i.opcode[0], mods: &i.opcode[1..], operands: &i.operands };
        let op = self.op(&mut form)?;
        Ok(Inst { op, guard, line: i.line })
    }

    /// One line for each instruction: the section of the manual that it is in decides the file.
    fn op(&mut self, form: &mut Form<'_>) -> Result<Op, SyntaxError> {
        match form.name {
            "add" | "sub" if form.mods.iter().any(|m| m == "cc") => self.carry(form),
            "addc" | "subc" | "madc" => self.carry(form),
            "mad" if form.mods.iter().any(|m| m == "cc") => self.carry(form),
            "add" | "sub" | "mul" | "mad" | "fma" | "div" | "rem" | "neg" | "abs" | "min" | "max" => {
                self.arithmetic(form)
            }
            "rcp" | "sqrt" | "copysign" => self.float(form, None),
            "testp" => self.testp(form),
            "and" | "or" | "xor" | "not" => self.logic(form),
            "cnot" | "shl" | "shr" | "shf" | "popc" | "clz" | "brev" | "bfind" | "bfe" | "bfi" | "prmt"
            | "lop3" | "sad" => self.bits(form),
            "setp" => self.setp(form),
            "set" => self.set(form),
            "selp" => self.selp(form),
            "slct" => self.slct(form),
            "mov" => self.mov(form),
            "cvt" => self.cvt(form),
            "cvta" => self.cvta(form),
            "ld" | "ldu" => self.load(form),
            "st" => self.store(form),
            "atom" | "red" => self.atomic(form),
            "bra" => self.branch(form),
            "ret" | "exit" | "trap" => self.leave(form),
            "bar" | "barrier" => self.barrier(form),
            "membar" | "fence" => self.fence(form),
            "shfl" => self.shuffle(form),
            "vote" => self.vote(form),
            "match" => self.match_(form),
            "redux" => self.redux(form),
            "activemask" => self.activemask(form),
            "rsqrt" | "sin" | "cos" | "lg2" | "ex2" | "tanh" => Err(self.error(format!(
                "`{}` exists only as an approximation, whose value the manual doesn't define",
                form.name
            ))),
            other => Err(self.error(format!("`{other}` is no instruction that is supported here"))),
        }
    }

    /// The type that comes next.
    fn ty(&self, form: &mut Form<'_>) -> Result<Type, SyntaxError> {
        form.accept_type().ok_or_else(|| {
            let found = form.mods.first().map_or("nothing".into(), |m| format!("`.{m}`"));
            self.error(format!("expected a type in `{}`, found {found}", form.name))
        })
    }

    /// That all modifiers were taken, and how many operands there are.
    fn operands<'o, const N: usize>(&self, form: &Form<'o>) -> Result<&'o [Operand; N], SyntaxError> {
        self.no_more(form)?;
        form.operands.try_into().map_err(|_| {
            self.error(format!("`{}` takes {N} operands here, not {}", form.name, form.operands.len()))
        })
    }

    fn no_more(&self, form: &Form<'_>) -> Result<(), SyntaxError> {
        match form.mods.first() {
            None => Ok(()),
            Some(m) => {
                Err(self.error(format!("`.{m}` is unknown, or not allowed at this place of `{}`", form.name)))
            }
        }
    }

    fn no_type(&self, form: &Form<'_>, ty: Type) -> SyntaxError {
        self.error(format!("`{}` doesn't exist for `{ty}`", form.name))
    }

    /// The version of the language and the compute capability from which on something exists.
    fn since(&self, what: &str, version: (u32, u32), target: u32) -> Result<(), SyntaxError> {
        if self.module.version < version {
            let (a, b) = version;
            return Err(self.error(format!("{what} needs `.version {a}.{b}`")));
        }
        if self.module.target < target {
            return Err(self.error(format!("{what} needs `.target sm_{target}`")));
        }
        Ok(())
    }

    /// The row of a constant.
    fn constant(&mut self, bits: u64) -> Reg {
        let constants = &mut self.constants;
        *self.constant_index.entry(bits).or_insert_with(|| {
            constants.push([bits; LANES]);
            super::code::CONSTANT + constants.len() as Reg - 1
        })
    }
}
