//! The table of diagnostic codes: one row for each rule that a program can break.
//!
//! A row has the code, its title, what the rule says, why it exists and how a program that breaks
//! it is repaired. The front end, the checks and the passes take their codes from here.

use std::fmt;

/// What the table says about a code.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The code as it is shown, `R0101`.
    pub id: &'static str,
    /// The group of rules that it belongs to.
    pub family: &'static str,
    /// The error in a few words.
    pub title: &'static str,
    /// What is not allowed.
    pub what: &'static str,
    /// Why it isn't.
    pub why: &'static str,
    /// What to write instead.
    pub repair: &'static str,
}

macro_rules! codes {
    ($($family:literal { $($variant:ident $id:ident $title:literal $what:literal $why:literal $repair:literal)* })*) => {
        /// A rule that a program can break; [`Code::entry`] explains it.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
        pub enum Code { $($(#[doc = $title] $variant),*),* }

        impl Code {
            /// Every code, in the order of their numbers.
            pub const ALL: &'static [Code] = &[$($(Code::$variant),*),*];

            /// The code's row.
            pub fn entry(self) -> Entry {
                match self {
                    $($(Code::$variant => Entry {
                        id: stringify!($id),
                        family: $family,
                        title: $title,
                        what: $what,
                        why: $why,
                        repair: $repair,
                    },)*)*
                }
            }
        }
    };
}

impl Code {
    /// The code as it is shown, `R0101`.
    pub fn id(self) -> &'static str {
        self.entry().id
    }
}

impl fmt::Display for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

codes! {
    "Reading what is written" {
        ReadsTarget R0101 "a statement reads what it writes"
            "In `p += e`, neither `e` nor an index in `p` may read `p`; the operands of an instruction \
             may not read the places that it changes."
            "The inverse `p -= e` would compute another `e`, because `p` has changed in between."
            "Accumulate into another place (`z += p * e`), or use an instruction that does what \
             is meant (`neg(p)`, `mul_int(p, 2)`, `rot(a, b, t)`). Where two elements are meant that differ, write indices whose difference the compiler can see, or \
             that it can't see at all: then they are compared at run time."
        SamePlace R0102 "an instruction is given one place twice"
            "The places that an instruction changes (`swap(a, b)`, `rot(a, b, t)`, `push(stack, x)`) must be \
             different."
            "An instruction is reversible as a map of separate places: `rot(a, a, t)` has no inverse."
            "Name two different places. A `swap` of a place with itself does nothing and can go; of two elements that only turn out to be \
             one when the program runs, `swap` does nothing, and the other instructions are errors."
        OverlappingArguments R0103 "an argument that a call writes overlaps another argument"
            "The arguments that a call writes must be different places from each other and from all that \
             the call reads, indices of the arguments included."
            "Inside the function they are separate variables; if they were one place, neither the \
             function's inverse nor its derivative would be right."
            "Pass disjoint parts (`&mut a[0..k]`, `&mut a[k..n]`), or other places."
        TupleReadsTarget R0104 "an element of a tuple update reads one of its targets"
            "`(a, b) += (e, f)` means `a += e; b += f`, so `f` may not read `a`, nor `e` read `b`."
            "All elements are meant to be computed from the values before the statement, and the \
             inverse computes them from the values after it."
            "Write the updates one after the other if that is what is meant, or use the instruction that \
             is (`swap`, `rot`, `hadamard`)."
        WriteReadOnly R0105 "a read-only argument is written"
            "Only arguments declared `&mut` may be written."
            "The caller keeps the value, and the function's derivative with respect to it is accumulated."
            "Declare the parameter `&mut`, or work on an ancilla (`let mut t = 0.0; t += x;`)."
        WriteBinding R0106 "a binding is written"
            "`let n = e` is a name for a value through its scope and can't be changed."
            "The inverse recomputes the value at the other end of the scope."
            "Declare an ancilla, `let mut n = ...`."
        WriteIndex R0107 "the variable of a loop is written"
            "The body of `for i in a..b` may not write `i`."
            "The inverse runs over the same values in the reverse order."
            "Use an ancilla that starts at 0 and add `i` to it, or a `while` loop with a counter."
        ReadAccumulator R0108 "a place that may only be accumulated into is read or overwritten"
            "A parameter that the text form writes as `&acc` takes `+=` and `-=` only, and no expression reads it."
            "It is the gradient of an argument that the caller only reads: others accumulate into it too."
            "Accumulate into an ancilla, and add that to the parameter."
    }
    "Bindings and ancillas" {
        BindingChanged R0201 "something that a binding reads is written in its scope"
            "While `let n = e` is in scope, nothing that `e` reads may be written."
            "The inverse evaluates `e` at the end of the scope, so it must have the same value there."
            "End the scope of the binding before the write with a block of its own, write the result to another \
             place, or use indices that the compiler can tell apart (`i` and `i + 1`)."
        AncillaInitActive R0202 "an ancilla starts at a value that carries a derivative"
            "The first value of `let mut a = e` may depend on constants, shapes and integers only."
            "At the end of its scope the ancilla is given up together with its gradient, which is right \
             only if its first value is a constant."
            "Start at a constant and accumulate: `let mut a = T::zero(); a += e;`. For a value that \
             doesn't change, use a binding: `let a = e;`."
        AncillaInitChanged R0203 "the first value of an ancilla reads something that its scope changes"
            "What the first value of an ancilla reads may not be written before the scope ends."
            "At the end of its scope the ancilla is compared with the same expression."
            "Start at 0 and accumulate what is needed, or bind the value before."
        AncillaMixed R0204 "a statement changes an ancilla together with something else"
            "An ancilla that the compiler uncomputes may not be written by a statement that also writes \
             something outside (`swap(a, y)`, a call with both)."
            "The ancilla is uncomputed by the inverses of exactly the statements that wrote it; inverting \
             this one would take back the other change as well."
            "Uncompute it by hand: put what should be undone in `#[compute] { ... }`, or bring the \
             ancilla back to its first value and write `release(a)`."
        AncillaChangedRead R0205 "an ancilla can't be uncomputed, because something it was computed from has changed"
            "What the statements that write an ancilla read may not be written by other statements \
             afterwards, until the scope of the ancilla ends."
            "At the end of the scope the ancilla is uncomputed by the inverses of those statements, \
             which need the values that they read the first time."
            "Let the ancilla's scope end before the write (a block of its own, a `#[compute]` block), write \
             the result to another place, compute the ancilla from a copy that outlives it (an \
             argument), or keep the old value on a stack with `push`."
        UncomputeUnsupported R0206 "an ancilla is written by a statement that can't be uncomputed automatically"
            "The statements that write an ancilla are inverted at the end of its scope; `push` and `pop` of an \
             outer stack and external code can't be."
            "They act on more than the ancilla."
            "Uncompute by hand and write `release(a)`, or use a `#[compute]` block."
        UseAfterRelease R0207 "an ancilla is used after its release"
            "After `release(a)` the ancilla holds its first value and may not be used."
            "The release is where the ancilla ends; run backwards, it is where it begins."
            "Move the use before the release, or take another ancilla."
        UnbalancedRelease R0208 "an ancilla is released on one path only"
            "`release(a)` stands in the block that declares `a`, or in both branches of an `if` in it. It may \
             not stand in one branch only, in a loop around which `a` lives, or in a `#[compute]` block."
            "Where paths join, forwards and backwards, the same variables must be alive."
            "Release after the branch or loop, or in both branches."
        ReleaseNotAncilla R0209 "something that isn't an ancilla is released"
            "Only variables declared with `let mut` in the function are released."
            "Arguments belong to the caller, and bindings hold no storage."
            "Remove the release."
        ShadowedAncilla R0210 "a name hides an ancilla that is still in use"
            "While an ancilla is in scope no other variable may take its name."
            "The ancilla must be brought back to its first value, and could no longer be named."
            "Choose another name, or end the ancilla's scope first."
        StackType R0211 "a value is pushed on something that isn't a stack, or popped from one"
            "`push(stack, x)` and `pop(stack, x)` need a stack as their first argument, and a place of the \
             stack's element type as their second."
            "Only stacks can grow and shrink."
            "Declare one with `let mut stack = Stack::new();` or take a `&mut Stack<T>`."
    }
    "Branches and loops" {
        ConditionChanged R0301 "a branch changes what its condition reads, and there is no postcondition"
            "Without a postcondition, neither branch of an `if` may write what the condition reads."
            "The inverse has to decide afterwards which branch was taken; it evaluates the same \
             condition again."
            "Keep which way the branch went, in a `bool` that is `false` before or on a stack of `bool`s: \
             `#[keep(k)] if c { ... }`; or give a condition that is true exactly after the first branch: `#[post(q)] if c { ... }`."
        ConstantPostcondition R0302 "a postcondition can't hold"
            "A postcondition must be able to be true after one path and false after the other: a constant, the \
             condition of the `while` itself, or one that the loop's body never changes, isn't able to."
            "The postcondition is how the inverse finds out which path was taken."
            "State something that is true only after the first branch of an `if`, or only after the \
             first iteration of a `while` (`#[post(k > 0)]` for a counter `k` that starts at 0)."
        MissingPostcondition R0303 "a `while` loop has no postcondition"
            "A `while` loop needs `#[post(q)]`, where `q` is false before the loop and true after every \
             iteration."
            "The inverse runs the loop backwards as long as `q` is true."
            "Count the iterations in an ancilla `k` that starts at 0 and write `#[post(k > 0)]`, or use `for`."
        ConstantCondition R0304 "the condition of a `while` loop never changes"
            "The body of a `while` loop must write something that its condition reads."
            "Otherwise the loop either doesn't run or doesn't end."
            "Write a condition that the body changes; for a fixed number of iterations use `for`."
        BoundsChanged R0305 "a loop changes what its range reads"
            "The body of a `for` loop may not write what the range reads."
            "The inverse runs over the same range, which it computes after the loop."
            "Bind what the range needs before the loop (`let n = ...;`) if the loop doesn't change it, or \
             use `while` with a postcondition."
        ZeroStep R0306 "a loop has a step of zero"
            "The step of a range is at least 1."
            "With a step of 0 the loop doesn't end."
            "Use a positive step, and `.rev()` to count down."
    }
    "Types" {
        XorType R0401 "`^=` on something that isn't an integer or a bool"
            "`y ^= e` needs integers or `bool`."
            "Exclusive or works on bits."
            "Use `+=` and `-=`."
        MultiplyUpdate R0402 "`*=` or `/=` on a type whose multiplication can't be undone"
            "`y *= e` and `y /= e` are for numbers whose products can be undone: structs that have a reversible function \
             `mul_assign`, such as logarithmic and tropical numbers and odd integers. No built-in scalar is one."
            "Rounding loses bits, a product with 0 loses everything, and integers have no exact quotients."
            "Keep the number in a type that can (`rev::numbers`, or one of yours), accumulate the product into another \
             place (`z += y * e`), use `scale_by(y, c)` and `unscale_by(y, c)` for a factor that isn't 0, `neg(y)` for -1, \
             `inv(y)` for the reciprocal, or `rot(a, b, t)`."
        UpdateTarget R0403 "an update of something that isn't a scalar"
            "The left-hand side of `+=`, `-=` and `^=` is a scalar: a number, an element, a field. A whole array takes sums and products of \
             arrays, a whole struct takes `fields(q)`."
            "An update and its derivative are defined for one number."
            "Loop over the elements, add an array by `y += entries(x)` and a struct by `p += fields(q)`, or name the fields one by one."
        FunctionClass R0404 "a scalar type can't do what an operation asks"
            "Each function and instruction needs a class of scalar: any, `Ring` (`+ - *`), `Integer` (bits, \
             quotient, remainder), `Field` (division, the functions that real and complex numbers share), `Real` (order \
             and the other functions)."
            "The program would not compile for that type, or would mean something else."
            "Convert (`n as f64`, `T::from_usize(n)`), ask more of the type parameter (`T: Real`), or \
             use the operation that exists for the type."
        TypeMismatch R0405 "two types should be the same"
            "The operands of an operator, the two sides of an update, the branches of an `if` expression and \
             the arguments of a call must have the types that are asked for."
            "There are no implicit conversions, as in Rust."
            "Convert with `as` or `T::from_usize(n)`."
        LiteralKind R0406 "a literal can't have the type that its context asks for"
            "A whole number can be any number type, a decimal number any type but integers and `bool`."
            "An integer can't hold a fraction, a `bool` no number."
            "Write the literal as the type needs it: `2` for integers, `2.0` for floats, `true` for `bool`."
        IndexType R0407 "an index isn't a `usize`"
            "Elements are named by `usize` values, one for each dimension; ranges count in integers."
            "Elements have whole-number positions."
            "Convert with `as usize`, and give one index for each dimension."
        ConditionType R0408 "a condition isn't a `bool`"
            "Conditions and postconditions are truth values."
            "There are no implicit conversions, as in Rust."
            "Compare: `k != 0`."
        NoSuchPart R0409 "a value has no such part"
            "A path may only name fields of structs, elements of tuples and arrays, and `re` and `im` of complex \
             numbers."
            "Nothing is stored there."
            "Check the type of the variable."
        ArgumentCount R0410 "a function or instruction has another number of arguments"
            "Every function of the tables, and every function known from its declaration, takes a fixed number of arguments."
            "The missing ones have no value."
            "Give as many as the function's declaration or [the language](language.md#expressions) says."
        RangePlace R0411 "a part of an array is used elsewhere than as an argument of a call or in a product of arrays"
            "`a[i..j]`, `x.row(i)` and the like may only be passed to a function, or be an array in a product or sum of arrays."
            "Other statements work on single numbers."
            "Loop over the elements, or pass the part to a function that does."
        CallSignature R0412 "a call doesn't fit the function's signature"
            "An argument that the function changes is a place, given with `&mut`; one that it only reads is given by \
             value or with `&`."
            "The caller has to know what changes."
            "Write the arguments as the function's declaration asks."
        LossNotFound R0413 "the loss isn't a parameter of the function"
            "`#[reversible(loss = name)]` names a parameter."
            "The gradient is that of the named argument."
            "Name one of the `&mut` parameters."
        LossType R0414 "the loss isn't a differentiable scalar that the function writes"
            "A loss is a `&mut` parameter of a scalar type with derivatives (`T: Real`, `f32`, `f64`, ...)."
            "A gradient is the derivative of one real number."
            "Accumulate the loss into a `&mut` scalar, or use `vjp` with a seed for each output."
        GradientOfInteger R0415 "the gradient of an integer is asked for"
            "Integers and `bool` carry no derivative."
            "They don't change continuously."
            "Name another loss, or make it a floating-point number."
        ArrayProduct R0416 "a product or sum of whole arrays stands where it can't"
            "A function of whole arrays whose result is an array (`matmul(a, b)`) is the right side of `+=` or `-=`, \
             a sum of several such, each with a scalar factor. One whose result is a number (`dot(x, y)`) may \
             also stand inside the right side of an update of a number, or in the value of a `let`."
            "There is no storage for arrays in the middle of an expression, and conditions and indices are evaluated again by the inverse."
            "Accumulate the array into an ancilla (`let mut t: Array2<T> = zeros((n, m)); t += matmul(a, b);`); bind the number \
             before it is used."
        ArrayFormula R0417 "what a function of whole arrays is given isn't an array it can take"
            "The arguments of `matmul` and its kin are arrays by name: variables, fields, parts of arrays; with `.t()` for the \
             transposed, `conj(a)` for the conjugate, `lower(a)`, `upper(a)`, `strict_lower(a)`, `strict_upper(a)`, `unit_lower(a)`, \
             `unit_upper(a)`, `symmetric_lower(a)`, `symmetric_upper(a)` for a matrix of which a triangle is stored. The formula of \
             `contract` is a text such as `\"ik,kj->ij\"`."
            "What is computed has no storage to be read from, and its derivative nowhere to go."
            "Name the array; compute it into an ancilla first."
        FusedProduct R0418 "`fused` stands where nothing is added"
            "`fused(a * b)` is the whole right side of `+=`, `-=` or a `let`, and what it is given is a product."
            "It says that the product and the sum are rounded once, so there has to be a product and a sum; after a `let` those \
             of the adjoint."
            "Write `y += fused(a * b)`; inside an expression `mul_add(a, b, c)` is `a * b + c` rounded once."
        ConstantParameter R0419 "`constant` names something that can't be without a derivative"
            "`#[reversible(constant(x))]` names parameters that the function only reads, and for which its callers pass nothing \
             that carries a derivative."
            "Nothing is computed for the derivative by such a parameter; that by one that is written is part of what the function \
             does, and that by what a caller passes would be lost."
            "Name a parameter that is passed by value or by `&`, or leave it out; declare what a caller passes constant there too."
        LossyConversion R0420 "a conversion of a variable would lose something"
            "`convert(x, y)` moves the value of `x` to `y` where every value of `x`'s type is one of `y`'s."
            "The inverse moves it back, and what doesn't fit `y` wouldn't be there."
            "Keep what is lost on a stack: `convert(x, y, lost)`; add the value to another variable and keep this one (`y += x as f32`); or, where it is \
             known that nothing is lost, take back the conversion in the other direction: `#[inverse] { convert(y, x); }`, which is checked."
    }
    "Parallel loops" {
        RacingWrites R0501 "iterations of a parallel loop write the same place"
            "In a parallel loop each written place is private to the iteration, or has an index that is different \
             in every iteration, or is only accumulated into."
            "Otherwise the result depends on the order of the iterations."
            "Use an index of the form `i`, `i + 1` or `2 * i`, declare an index array that holds no value twice with \
             `#[injective(idx)]`, declare accesses that you know to be disjoint with `#[disjoint(a)]`, \
             only accumulate (`+=`), or make the loop sequential."
        ReadWriteConflict R0502 "an iteration of a parallel loop reads what another one writes"
            "What one iteration of a parallel loop writes, no other iteration may read."
            "Otherwise the result depends on the order of the iterations."
            "Read from another array, split the loop in two, or make it sequential."
        ParallelDeclaration R0503 "a declaration of a parallel loop names nothing that it can be about"
            "`#[injective(idx)]` names an array of integers and `#[disjoint(a)]` a variable, both used in \
             the loop, and the loop runs over `par(...)`."
            "The declaration would have no effect."
            "Remove it, or correct the name."
        ParallelStack R0504 "a parallel loop uses a stack from outside"
            "`push` and `pop` in a parallel loop need a stack that is declared inside the iteration."
            "A stack keeps the order in which values arrive."
            "Declare the stack inside the loop, or make the loop sequential."
    }
    "Syntax" {
        Assignment R0601 "assignment with `=`"
            "A variable isn't overwritten, but in a loop with `#[checkpoint]`; values change by `+=`, `-=`, `^=` and instructions."
            "An assignment loses the old value, so it can't be undone."
            "Use `y += e` where `y` is 0 before, `swap(a, b)`, or a new name (`let n = e;`); or let a loop with `#[checkpoint]` keep what is lost."
        Return R0602 "`return` in a reversible function"
            "A reversible function returns nothing and has one exit, its end."
            "Run backwards, the exit is where the function is entered."
            "Use `if` around the rest, and give results through `&mut` parameters. An `#[external]` block may have closures \
             and functions that return, but can't return itself."
        Break R0603 "`break` or `continue` in a reversible function"
            "Loops end by their condition or range."
            "The inverse could not know where the loop was left."
            "Use `while` with a condition and `#[post(q)]`, or `if` around the rest of the body. In an `#[external]` block only loops of its own \
             can be left."
        QuestionMark R0604 "`?` in a reversible function"
            "Errors of calls are passed on by themselves."
            "`?` is a second exit of the function."
            "Remove the `?`. In an `#[external]` block, handle the error there."
        Closure R0605 "a closure in a reversible function"
            "Closures aren't part of the language."
            "What they capture and change can't be seen where they are called."
            "Write a `#[pure]` function for values, or a reversible function and pass its name."
        Match R0606 "a pattern or enum that can't be matched here"
            "`match`, `if let` and `while let` ask places and values for numbers, ranges, constants, tuples, arrays of fixed size, and variants of enums \
             with their fields. References and fields that are left out aren't part of the patterns, and a name in the pattern of a loop isn't, as the loop \
             changes what it would stand for."
            "A pattern becomes a condition that the inverse asks again, and a program knows of an enum which variant it is and what that holds."
            "Name each field, or `_`; write an arm for each pattern where the names of several differ; ask in a loop without names, and name inside \
             of it; and use `if` and `else if` for everything else."
        UnknownCall R0607 "a call that isn't known to be reversible or pure"
            "Statements call reversible functions, with `&mut` at the arguments that change; expressions call the \
             functions of the language and `#[pure]` functions."
            "What other code changes can't be undone."
            "Mark the function `#[reversible]` or `#[pure]`, or put the call in an `#[external] { ... }` block if \
             it leaves the program's variables alone."
        Macro R0608 "a macro in a reversible function"
            "Macros can't be looked into; only `vec![e; n]`, and `s![..]` in `x.slice(..)`, are known."
            "What the macro expands to might not be reversible."
            "Put it in an `#[external] { ... }` block if it leaves the program's variables alone."
        UnsupportedStatement R0609 "a statement that isn't part of the language"
            "A reversible function consists of the statements that [the language](language.md) lists."
            "Only those have an inverse."
            "Rewrite it with those statements, or put it in an `#[external] { ... }` block."
        UnsupportedExpression R0610 "an expression that isn't part of the language"
            "Expressions are made of literals, constants, places, lengths, tuples, operators, `as`, `if`, `match`, the functions of the \
             language and `#[pure]` functions."
            "Expressions must be free of effects and have derivatives."
            "Rewrite it, or move it into a `#[pure]` function."
        UnsupportedPattern R0611 "a pattern that isn't part of the language"
            "`let` and `for` take a name, or a tuple of names where the value is a tuple."
            "Other patterns may fail to match or move values."
            "Use a name and the fields of it."
        UnsupportedType R0612 "a type that isn't part of the language"
            "Arguments are scalars, tuples, fixed-size arrays, slices, vectors, ndarray's arrays and views, stacks, `Option`s, reversible \
             functions, and structs and enums that derive `Reversible`, as [types](types.md#arguments-and-types) lists."
            "Only these have places and shadows."
            "Use one of these types; derive `Reversible` for a struct or an enum."
        UnsupportedSignature R0613 "a function signature that isn't part of the language"
            "A reversible function is a function without a return type, `async`, `unsafe`, lifetimes that \
             matter or a `where` clause beyond bounds on its type parameters. It has a `self` only in an `impl` block of a struct \
             that is marked `#[reversible]` too, and isn't a function of a trait."
            "It is turned into several functions with other signatures, which belong to a type of their own."
            "Give results through `&mut` parameters; mark the `impl` block."
        UnknownName R0614 "a name that is not in scope"
            "Every variable is a parameter or declared with `let`, `for` or a pattern."
            "The value is not known."
            "Declare it, or correct the name."
        UnsupportedAttribute R0615 "an attribute that isn't known here"
            "The attributes of the language are `post`, `keep`, `checkpoint`, `injective`, `disjoint`, `compute`, `inverse`, `unchecked` \
             and `external`, each at the statements that [the language](language.md) shows."
            "It would have no effect."
            "Remove it, or move it to the statement that it is about."
        NotAPlace R0616 "something that can't be changed stands where a place is needed"
            "Updates and instructions change places: variables, elements, fields, and negated, conjugated or tuple \
             views of these."
            "A value has no storage."
            "Use a variable."
        ReservedName R0617 "a name that the generated code needs, or that means something else"
            "Names that begin with `__` belong to the generated code. A function, a type parameter or a const parameter doesn't have \
             the name of a primitive type, and a function begins with a small letter and isn't called `inverse`; a pure \
             function hasn't the name of a function of the language (`sin`, `clamp`), a reversible one not that of an \
             instruction (`swap`, `push`); a variable isn't called `Some`, `None`, `Ok` or `Err`."
            "A function is also a type of its name, which would hide another one; `m::inverse` is the inverse of `m`; constants and types \
             are told from functions by their first letter; and `sin(x)` in a program is the sine."
            "Choose another name."
        Checkpoint R0618 "a loop with `#[checkpoint]` that can't be run again"
            "Such a loop counts up by one; what it changes are numbers, and arrays and tuples of them, declared before it in the same block; and \
             an assignment stands in no parallel loop and gives a variable from outside the loop a new value."
            "Its steps are run again, from states that are kept, and all of it is taken back at the end of the block."
            "Change variables of the block, and add what comes out to others behind the loop."
    }
    "Pure functions" {
        PureBody R0701 "a pure function does more than compute a value"
            "A `#[pure]` function consists of `let`, `if` expressions and a value; it reads its parameters and constants only, \
             and makes no arrays or stacks."
            "It is called in expressions, in any direction, and its derivative is derived from its text."
            "Write a reversible function for what has effects or loops."
        PureResult R0702 "the result of a pure function isn't a scalar or a tuple of scalars"
            "A pure function returns a number, a `bool`, or a tuple of these."
            "Expressions have such values."
            "Return a tuple, or write a reversible function that accumulates into its arguments."
        PurePartials R0703 "the given derivatives of a pure function don't fit it"
            "`#[pure(d(x) = ..., d(y) = ...)]` gives one derivative for each parameter that carries one, as a value of the \
             result's type, and for no other. None can be given or derived by a parameter of any type that can be stored \
             (`T: Scalar`), so such a function only results in integers and `bool`."
            "A derivative that isn't given would be taken for 0."
            "Give the missing ones (`d(x) = 0.0` if it is 0), remove the others, or give none: then they are derived. \
             Declare `T: Field` or `T: Integer` in place of `T: Scalar`."
        PureRecursion R0704 "a pure function calls itself"
            "A pure function may call other pure functions, but not itself."
            "Its derivative is written out by inserting the called functions' derivatives, which would not end."
            "Write a reversible function with a loop."
    }
    "Rev itself" {
        Defect R0801 "something in rev is wrong"
            "Every program that rev makes of another one satisfies the rules of the language, and every pass knows what to \
             do with what it meets. Here one doesn't; the message says which and how."
            "What isn't as it has to be could give wrong results without a word."
            "Report it with the function that it is about. Statements of another form may avoid it."
    }
    "Limits" {
        TooDeep R0802 "statements are nested too deep"
            "Statements are nested at most 2000 deep; the scope of a `let`, of an ancilla and of a `#[compute]` block is a level."
            "Its adjoint is some times deeper, and the Rust that is emitted for it would exhaust the compiler's stack."
            "Make functions of parts of it, or keep values in an array instead of many names."
        TooHigh R0803 "an expression is too high"
            "Choices in choices, and the arguments of products of arrays, are at most 2000 operations high; so is every expression \
             of a program in the text form. Other expressions are computed in steps."
            "What is made of it would exhaust the compiler's stack."
            "Name parts of it by `let`."
    }
}
