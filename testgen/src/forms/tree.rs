//! The trees that random programs of source forms are printed from.

/// A piece of a path.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// `.name`
    Field(String),
    /// `.0`
    Element(usize),
    /// `[i]`, or `[[i, j]]` of a matrix.
    Index(Vec<At>),
}

/// An index.
#[derive(Clone, Debug, PartialEq)]
pub enum At {
    /// A number.
    Number(usize),
    /// A loop's variable.
    Var(String),
    /// `(i + c) % n`
    Shifted(String, usize, usize),
    /// `n - 1 - i`
    Mirrored(String, usize),
}

/// Where something is stored.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// A variable or what a pattern names.
    pub root: String,
    /// Whether the variable is a reference in plain Rust, to be followed where all of it is meant.
    pub by_reference: bool,
    /// The way to the part that is meant.
    pub path: Vec<Step>,
}

/// A real number.
#[derive(Clone, Debug)]
pub enum Expr {
    /// What a place holds.
    Read(Place),
    /// A literal.
    Number(f64),
    /// `T::zero()`, `T::one()`.
    Constant(&'static str),
    /// `-e`
    Neg(Box<Expr>),
    /// `a + b` and the like.
    Binary(char, Box<Expr>, Box<Expr>),
    /// `e.sin()`
    Function(&'static str, Box<Expr>),
    /// A number of a constant table: `T::from_f64(TABLE[i])`.
    Tabled(Place),
    /// `e.clamp(a, b)`
    Clamp(Box<Expr>, f64, f64),
    /// `n as T`
    OfInt(Int),
    /// `if c { a } else { b }`
    If(Box<Cond>, Box<Expr>, Box<Expr>),
    /// `match subject { pattern if guard => value, .. }`
    Match(Subject, Vec<(Pat, Option<Cond>, Expr)>),
    /// `if let pattern = subject { a } else { b }`
    IfLet(Pat, Subject, Box<Expr>, Box<Expr>),
    /// `f(args)` of a pure function.
    Call(String, Vec<Item>),
    /// `{ let name = value; e }`
    Block(String, Box<Expr>, Box<Expr>),
}

/// An integer.
#[derive(Clone, Debug)]
pub enum Int {
    /// A literal.
    Number(i64),
    /// What a place holds.
    Read(Place),
    /// A loop's variable, as `i64`.
    Var(String),
    /// `a % n`
    Rem(Box<Int>, i64),
    /// `a + b` and the like.
    Binary(char, Box<Int>, Box<Int>),
    /// `match subject { pattern => value, .. }`
    Match(Subject, Vec<(Pat, Option<Cond>, Int)>),
    /// `f(args)` of a pure function.
    Call(String, Vec<Item>),
}

/// What is matched: a place or a value, or several.
pub type Subject = Vec<Matched>;

/// One of them.
#[derive(Clone, Debug)]
pub enum Matched {
    /// What a place holds.
    Place(Place),
    /// An integer.
    Int(Int),
}

/// A number or truth value among others.
#[derive(Clone, Debug)]
pub enum Item {
    /// A real number.
    Real(Expr),
    /// An integer.
    Int(Int),
    /// A truth value.
    Truth(Cond),
}

/// Several numbers: a tuple or an array.
#[derive(Clone, Debug)]
pub enum Several {
    /// `(a, b)`
    Of(Vec<Item>),
    /// `f(args)` of a pure function.
    Call(String, Vec<Item>),
    /// `if c { a } else { b }`
    If(Cond, Box<Several>, Box<Several>),
    /// `match subject { pattern if guard => values, .. }`
    Match(Subject, Vec<(Pat, Option<Cond>, Several)>),
    /// `if let pattern = subject { a } else { b }`
    IfLet(Pat, Subject, Box<Several>, Box<Several>),
    /// `{ let name = e; values }`
    Block(String, Expr, Box<Several>),
}

/// A condition.
#[derive(Clone, Debug)]
pub enum Cond {
    /// Of integers.
    Ints(Int, &'static str, Int),
    /// Of real numbers.
    Reals(Expr, &'static str, Expr),
    /// `!c`
    Not(Box<Cond>),
    /// `a && b`, `a || b`
    Both(Box<Cond>, &'static str, Box<Cond>),
    /// What a place holds.
    Read(Place),
    /// A literal.
    Is(bool),
    /// `f(args)` of a pure function.
    Call(String, Vec<Item>),
}

/// A pattern. Its text is the same in both languages.
#[derive(Clone, Debug)]
pub enum Pat {
    /// `_`
    Wild,
    /// `3`
    Number(i64),
    /// `1..=3`
    Range(i64, i64),
    /// `..=3`, `3..`
    Open(Option<i64>, Option<i64>),
    /// `a | b`
    Or(Vec<Pat>),
    /// `n`
    Name(String),
    /// `n @ p`
    At(String, Box<Pat>),
    /// `true`
    Truth(bool),
    /// `[p, q]`
    Array(Vec<Pat>),
    /// `(p, q)`
    Several(Vec<Pat>),
    /// `E::A`, `Some(p)`
    Tuple(String, Vec<Pat>),
    /// `E::B { x, n: p, .. }`
    Fields(String, Vec<(String, Pat)>, bool),
}

/// A number of a number system, and what updates one.
#[derive(Clone, Debug)]
pub enum Num {
    /// One of them.
    Read(Place),
    /// A real number, positive where it has to be, or an odd literal.
    Of(Expr),
    /// An odd number.
    Odd(u32),
    /// `a * b` and the like.
    Binary(char, Box<Num>, Box<Num>),
    /// `a.powi(n)`
    Powi(Box<Num>, i32),
    /// `a.powf(p)`
    Powf(Box<Num>, f64),
    /// `a.sqrt()`, `a.recip()`, `-a`
    Function(&'static str, Box<Num>),
}

/// The value of a struct that is written out: each field by its name.
pub type Literal = Vec<(String, FieldValue)>;

/// The value of a field in it.
#[derive(Clone, Debug)]
pub enum FieldValue {
    /// A number.
    Real(Expr),
    /// An array.
    Array(Vec<Expr>),
    /// A tuple.
    Pair(Expr, Expr),
    /// An integer.
    Int(Int),
}

/// An argument.
#[derive(Clone, Debug)]
pub enum Arg {
    /// `&mut place`
    Write(Place),
    /// `&place`
    Read(Place),
    /// `&S::<T> { .. }`
    Made(String, Literal),
    /// A number.
    Value(Expr),
}

/// A statement.
#[derive(Clone, Debug)]
pub enum Stmt {
    /// `place += e`, `place -= e`
    Update(Place, char, Expr),
    /// The same of an integer, with `^` too.
    IntUpdate(Place, char, Int),
    /// `neg(place)`
    Neg(Place),
    /// `swap(a, b)`
    Swap(Place, Place),
    /// `p += fields(q)`; `of` is the struct, whose fields the plain program adds one by one.
    Sum { place: Place, op: char, other: Place, of: String },
    /// `p += S { .. }`
    SumMade { place: Place, op: char, of: String, made: Literal },
    /// `x *= e`, `x /= e` in a number system.
    Scale { place: Place, op: char, system: System, by: Num },
    /// `{ let name = e; body }`
    Let(String, Expr, Vec<Stmt>),
    /// `{ let (a, b) = values; body }`
    LetSeveral(Vec<String>, Several, Vec<Stmt>),
    /// `{ let a = values; body }`, an array.
    LetArray(String, Several, Vec<Stmt>),
    /// `(y, z) += values`
    UpdateSeveral(Vec<Place>, char, Several),
    /// `{ let name = S { .. }; body }`
    LetStruct(String, String, Literal, Vec<Stmt>),
    /// `{ let mut name = init; prepare; body }`: `prepare` alone writes it, the body reads it.
    Ancilla { name: String, start: Start, compute: bool, prepare: Vec<Stmt>, body: Vec<Stmt> },
    /// `let mut` variables in one block, each with the statements that give it a value, and the rest of the block.
    States(Vec<(String, Start, Vec<Stmt>)>, Vec<Stmt>),
    /// `#[compute] { prepare } body`
    Compute(Vec<Stmt>, Vec<Stmt>),
    /// `if c { a } else { b }`
    If(Cond, Vec<Stmt>, Vec<Stmt>),
    /// `match subject { .. }`
    Match(Subject, Vec<(Pat, Option<Cond>, Vec<Stmt>)>),
    /// `if let pattern = subject { a } else { b }`
    IfLet(Pat, Subject, Vec<Stmt>, Vec<Stmt>),
    /// `for var in 0..n`, in parallel or not.
    For { var: String, count: usize, parallel: bool, body: Vec<Stmt> },
    /// `for element in array`, or with `index` where it is counted, forward or reversed, in parallel or not.
    Each { index: String, counted: bool, element: String, of: Place, order: Order, body: Vec<Stmt> },
    /// `#[keep(ways)] if c { a } else { b }`
    Keep(Place, Cond, Vec<Stmt>, Vec<Stmt>),
    /// `#[inverse] { body }`
    Inverse(Vec<Stmt>),
    /// `f(args)` or `f::inverse(args)`
    Call(String, bool, Vec<Arg>),
    /// `convert(x, y)`, `convert(x, y, lost)`; types are those of `x` and `y`.
    Convert { from: Place, to: Place, lost: Option<Place>, types: (&'static str, &'static str) },
    /// `push(s, x)`, given the zero that it leaves.
    Push(Place, Place, String),
    /// `push(s, x)` of a whole array.
    PushArray(Place, Place),
    /// `#[checkpoint(every = m)] for var in 0..n { body }`
    Checkpoint { var: String, count: usize, every: Option<usize>, body: Vec<Stmt> },
    /// `x = e`
    Assign(Place, Expr),
    /// `n = e`
    AssignInt(Place, Int),
}

/// In which order a loop visits elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Order {
    Forward,
    Reversed,
    Parallel,
}

/// What an ancilla starts at.
#[derive(Clone, Debug)]
pub enum Start {
    /// A number.
    Real(f64),
    /// A number of a concrete type.
    Of(&'static str),
    /// An integer.
    Int(i64),
    /// `[0.0; n]`
    Array(usize),
    /// `vec![0.0; n]`
    Vector(usize),
    /// `zeros_like(place)`; the struct, whose zeros the plain program writes.
    Like(Place, String),
    /// `S::<T> { .. }`
    Made(String, Literal),
    /// `S::<T>::zero()` of a number system.
    One(System),
}

/// A number system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum System {
    Log,
    MaxPlus,
    MinPlus,
    Odd,
}

impl System {
    /// Its type in the language and, with `f64`, in plain Rust.
    pub fn name(self, scalar: &str) -> String {
        match self {
            System::Odd => "Odd<u32>".into(),
            System::Log | System::MaxPlus | System::MinPlus => format!("{self:?}<{scalar}>"),
        }
    }
}

/// The type of a field, a parameter or a variant's field.
#[derive(Clone, Debug, PartialEq)]
pub enum Type {
    /// `T`
    Real,
    /// `f32`, `i64` and the like.
    Of(&'static str),
    /// `[T; n]`
    Fixed(usize),
    /// `[i64; n]`
    Ints(usize),
    /// `[T; N]`, of a const parameter that is 3.
    Named,
    /// `(T, T)`
    Pair,
    /// `Vec<T>`, of a length.
    Vector(Box<Type>, usize),
    /// `&[T]`, `&mut [T]` of a length.
    Slice(Box<Type>, usize),
    /// `Array2<T>` of a shape.
    Matrix(usize, usize),
    /// `Stack<T>`
    Stack(Box<Type>),
    /// `Option<T>`
    Option(Box<Type>),
    /// A struct or an enum that the program declares.
    Declared(String),
    /// A number of a system.
    Number(System),
}

/// A struct or an enum.
#[derive(Clone, Debug)]
pub struct Declared {
    /// Its name.
    pub name: String,
    /// Whether it has the const parameter `N`.
    pub named: bool,
    /// What it is made of.
    pub of: Parts,
}

/// What a declared type is made of.
#[derive(Clone, Debug)]
pub enum Parts {
    /// A struct's fields.
    Struct(Vec<(String, Type)>),
    /// An enum's variants, each with its fields; these have names or numbers.
    Enum(Vec<(String, Vec<(String, Type)>)>),
}

/// A parameter.
#[derive(Clone, Debug)]
pub struct Param {
    /// Its name.
    pub name: String,
    /// Its type, without a reference.
    pub ty: Type,
    /// Whether the function changes it.
    pub written: bool,
    /// Whether it must be zero at first: it is converted into.
    pub zero: bool,
}

/// A pure function.
#[derive(Clone, Debug)]
pub struct Pure {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<(String, Kind)>,
    /// What its results are.
    pub results: Vec<Kind>,
    /// Its value: one number, or several.
    pub value: Several,
}

/// What an argument or a result of a pure function is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[allow(missing_docs)]
pub enum Kind {
    Real,
    Int,
    Truth,
}

/// A function.
#[derive(Clone, Debug)]
pub struct Function {
    /// Its name.
    pub name: String,
    /// Its parameters.
    pub params: Vec<Param>,
    /// Its body.
    pub body: Vec<Stmt>,
    /// The struct of which it is a function, its first parameter being `self`.
    pub of: Option<String>,
}

impl Function {
    /// Its name in calls: `S::f`.
    pub fn path(&self) -> String {
        self.of.as_ref().map_or(self.name.clone(), |of| format!("{of}::{}", self.name))
    }
}

impl Kind {
    /// Its type, of real numbers the scalar.
    fn ty(self, scalar: &str) -> &str {
        match self {
            Kind::Real => scalar,
            Kind::Int => "i64",
            Kind::Truth => "bool",
        }
    }
}

impl Pure {
    /// Whether a parameter or a result is a real number.
    pub fn has_reals(&self) -> bool {
        self.params.iter().map(|(_, kind)| kind).chain(&self.results).any(|kind| *kind == Kind::Real)
    }

    /// The parameters and the type of what it returns.
    pub fn signature(&self, scalar: &str) -> (String, String) {
        let params: Vec<String> = self.params.iter().map(|(n, k)| format!("{n}: {}", k.ty(scalar))).collect();
        let results: Vec<&str> = self.results.iter().map(|k| k.ty(scalar)).collect();
        let result = if results.len() == 1 { results.concat() } else { format!("({})", results.join(", ")) };
        (params.join(", "), result)
    }
}
