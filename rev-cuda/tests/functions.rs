//! Every function of reals on every float, and its derivative: the interpreter's bits on the emulator, and on a GPU where there
//! is one, at the edges of the types and between them.

#![allow(clippy::panic, clippy::unwrap_used)] // helpers of tests

use rev_core::device::DynamicDevice;
use rev_core::interp::Machine;
use rev_core::ir::{Class, Direction, Module};
use rev_core::ops::{Func, Shape};
use rev_core::scalar::{bf16, f16, Scalar};
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};
use rev_cuda::{Cuda, Emulator};
use rev_testgen::reals::replace;
use rev_testgen::Dice;

/// A program that adds a function of `a`, `b` and `c` to each element of `y`, where it is one of reals.
fn program(func: Func) -> Option<Module> {
    let row = func.row();
    let args = row.args.iter().enumerate().map(|(k, shape)| match shape {
        Shape::T => Some(["a[i]", "b[i]", "c[i]"][k].to_string()),
        Shape::I => Some((k + 1).to_string()),
        Shape::B => Some("a[i] > 1.0".to_string()),
        Shape::R | Shape::C | Shape::S | Shape::SR | Shape::SC => None,
    });
    let args = args.collect::<Option<Vec<String>>>()?;
    let real = matches!(row.class, Class::Real | Class::Field | Class::Ring)
        || matches!(func, Func::Select | Func::Min | Func::Max);
    if !real || !matches!(row.result, Shape::T | Shape::R) {
        return None;
    }
    let value = match func {
        Func::Fused => "fused(a[i] * b[i])".to_string(),
        _ => format!("{}({})", func.name(), args.join(", ")),
    };
    let text = format!(
        "module f fn f<T: Real>(y: &mut [T], a: [T], b: [T], c: [T]) {{
             par for i in 0..len(y) {{ y[i] += {value} }}
         }}"
    );
    let module = rev_core::text::parse_module(&text).unwrap_or_else(|e| panic!("{e}: {text}"));
    Some(rev_core::check::check_module(module).unwrap_or_else(|d| panic!("{}", d.render("", &text))))
}

/// Numbers of all sizes, mostly not far from 1, and the ends of the types.
fn number(dice: &mut Dice) -> f64 {
    const EDGES: [f64; 14] = [
        0.0,
        0.5,
        1.0,
        2.0,
        std::f64::consts::FRAC_PI_2,
        5e-324,
        f64::MIN_POSITIVE,
        1e-45,
        1.2e-38,
        3.4e38,
        709.8,
        f64::MAX,
        f64::INFINITY,
        f64::NAN,
    ];
    let sign = if dice.chance(50) { 1.0 } else { -1.0 };
    sign * match dice.below(10) {
        0 => EDGES[dice.below(EDGES.len())],
        1 => dice.real(-300.0, 300.0).exp2(),
        2 => dice.real(-1070.0, 1020.0).exp2(),
        3 => dice.real(0.0, 1e5),
        _ => dice.real(0.0, 4.0),
    }
}

/// The elements of an array as they are printed: all NaN are alike.
fn printed(data: &Data) -> Vec<String> {
    match data {
        Data::Array(array) => array.elements.iter().map(|e| format!("{e:?}")).collect(),
        other => panic!("{other:?} is no array"),
    }
}

/// What a device computes otherwise than the interpreter, at `count` points of numbers of a type.
fn differences<T: Scalar>(
    modules: &[(Func, Module)],
    device: &dyn DynamicDevice,
    count: usize,
    of: fn(f64) -> T,
) -> Vec<String> {
    let (mut dice, mut found) = (Dice::new(count as u64), Vec::new());
    let options = Options { checks: false, deterministic: true, ..Options::default() };
    for (func, module) in modules {
        for direction in [Direction::FORWARD, Direction::ADJOINT] {
            let mut args = Vec::new();
            for _ in 0..4 {
                let of = Data::vector((0..count).map(|_| Data::scalar(of(number(&mut dice)))).collect());
                let shadow = replace(&of.zero_shadow(), &mut |_| number(&mut dice));
                args.push(of);
                args.extend((direction.adjoint == 1).then_some(shadow));
            }
            let mut held = args.clone();
            let mut given: Vec<&mut dyn DynArg> = held.iter_mut().map(|a| a as &mut dyn DynArg).collect();
            let what = format!("{} of {}, {direction:?}", func.name(), std::any::type_name::<T>());
            if let Err(e) = device.execute(module, direction, &mut given) {
                found.push(format!("{what}: {e}"));
                continue;
            }
            let machine = Machine::new(module, &module.entry, direction, args.clone());
            let mut machine = machine.unwrap().with_options(options.clone());
            machine.run().unwrap_or_else(|e| panic!("{what}: {e}"));
            for (k, (own, expected)) in held.iter().zip(machine.arguments()).enumerate() {
                let (own, expected) = (printed(own), printed(&expected));
                let differing: Vec<usize> = (0..count).filter(|i| own[*i] != expected[*i]).collect();
                if let Some(i) = differing.first() {
                    let of: Vec<String> = args.iter().map(|a| printed(a)[*i].clone()).collect();
                    let (own, expected, of) = (&own[*i], &expected[*i], of.join(", "));
                    let all = differing.len();
                    found.push(format!(
                        "{what}: {own}, not {expected}, in {k} of ({of}), and {all} of {count}"
                    ));
                }
            }
        }
    }
    found
}

#[test]
fn every_function_has_the_interpreters_bits() {
    let modules: Vec<(Func, Module)> =
        Func::ALL.iter().filter_map(|func| program(*func).map(|module| (*func, module))).collect();
    assert!(modules.len() > 50, "{}", modules.len());
    let of_every_type = |device: &dyn DynamicDevice, count: usize| {
        let mut found = differences::<f64>(&modules, device, count, |v| v);
        found.extend(differences::<f32>(&modules, device, count, |v| v as f32));
        found.extend(differences::<f16>(&modules, device, count, f16::from_f64));
        found.extend(differences::<bf16>(&modules, device, count, bf16::from_f64));
        assert!(found.is_empty(), "{} differ:\n{}", found.len(), found.join("\n"));
    };
    of_every_type(&Emulator::new().deterministic(true), 500);
    match Cuda::new(0) {
        Ok(gpu) => of_every_type(&gpu.deterministic(true), 20_000),
        Err(e) => eprintln!("skipped on CUDA: {e}"),
    }
}
