//! What any text goes through that claims to be a program: reader, static rules, every pass, a short run. Nothing of it
//! may panic, whatever the text.

use rev_core::check::{check, check_module};
use rev_core::interp::{Machine, Progress};
use rev_core::ir::{Direction, Function, Length, Module, Rank, ScalarType, Type};
use rev_core::pass::{adjoint, erase, inverse, Adjoint, Wanted};
use rev_core::scalar::Num;
use rev_core::text;
use rev_core::value::{Array, Data, Value};

/// How far a text comes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reached {
    /// It isn't the text form of anything.
    Text,
    /// It is a program that breaks a rule.
    Program,
    /// It is a legal program; its run fails or takes too long.
    Checked,
    /// It is a legal program that runs.
    Ran,
}

/// The most bytes of a text that is tried: longer ones take long and find nothing else.
const LONGEST: usize = 1 << 16;

/// The statements that a run may have.
const STEPS: usize = 2000;

/// Everything that rev does with a text. The run is that of the function `f` or of the last one, on `args` or, without
/// them, on small numbers of its parameters' types.
///
/// # Panics
///
/// Where a pass does, or where what it makes isn't what it has to be: that is what callers look for.
pub fn through_all(source: &str, args: Option<&[Data]>) -> Reached {
    if source.len() > LONGEST {
        return Reached::Text;
    }
    let Ok(mut module) = text::parse_module(source) else { return Reached::Text };
    assert_eq!(text::parse_module(&text::encode_module(&module)).as_ref(), Ok(&module), "the text form");
    module.entry = match module.functions.contains_key("f") {
        true => "f".into(),
        false => module.functions.keys().next_back().cloned().unwrap_or_default(),
    };
    let Ok(module) = check_module(module) else { return Reached::Program };
    for f in module.functions.values() {
        let Ok(f) = check(f.clone()) else { continue };
        assert!(inverse(&inverse(&f)) == f, "the inverse of the inverse");
        let back = adjoint(&f, Adjoint::REVERSIBLE);
        let _ = (adjoint(&back, Adjoint::LEAN), inverse(&back));
        let _ = (erase(&f, Wanted::All).shared(), erase(&back, Wanted::Shadows).shared());
    }
    let _ = module.fused();
    let _ = module.adjoint();
    let own = || module.entry().map(samples).unwrap_or_default();
    match runs(&module, args.map_or_else(own, <[Data]>::to_vec)) {
        true => Reached::Ran,
        false => Reached::Checked,
    }
}

/// Runs the module for a while, and back where it came to its end.
fn runs(module: &Module, args: Vec<Data>) -> bool {
    let Ok(mut machine) = Machine::new(module, &module.entry, Direction::FORWARD, args) else { return false };
    for _ in 0..STEPS {
        match machine.step() {
            Ok(Progress::Stepped) => {}
            Ok(Progress::AtEnd) => return machine.run_back().is_ok(),
            Err(_) => return false,
        }
    }
    false
}

fn samples(f: &Function) -> Vec<Data> {
    f.params.iter().map(|p| sample(&f.var(*p).ty)).collect()
}

/// A small value of a type, nothing where a text alone doesn't say which.
fn sample(ty: &Type) -> Data {
    match ty {
        Type::Scalar(s) => number(*s),
        Type::Generic(_) => Data::scalar(0.5),
        Type::Complex(_) => Data::scalar(num_complex::Complex::new(0.5, -0.25)),
        Type::Array(of, rank) => {
            let axes = match rank {
                Rank::Fixed(n) => usize::from(*n),
                Rank::Dynamic => 1,
            };
            let shape = vec![2; axes];
            Data::Array(Array { elements: vec![sample(of); shape.iter().product()], shape })
        }
        Type::Fixed(of, Length::Literal(n)) if *n <= 8 => Data::vector(vec![sample(of); *n as usize]),
        Type::Tuple(of) => Data::Tuple(of.iter().map(sample).collect()),
        Type::Stack(of) => Data::Stack(vec![sample(of)]),
        Type::Fixed(..) | Type::Struct(..) | Type::Function(_) | Type::Shadow(_) | Type::Unknown => {
            Data::None
        }
    }
}

fn number(ty: ScalarType) -> Data {
    match ty {
        ScalarType::Bool => Data::scalar(true),
        _ => Value::from_num(Num::Int(1), &Type::Scalar(ty)).map_or(Data::None, Data::Scalar),
    }
}
