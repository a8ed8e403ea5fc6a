//! Products and sums written out as loops, beside the interpreter's own: the same bits.

use ndarray::Array2;
use rev_core::check::infer_module;
use rev_core::interp::Machine;
use rev_core::ir::{Direction, Module, UpdateOp};
use rev_core::pass::{directed, expand, Expansion};
use rev_core::scalar::Batch;
use rev_core::tolerance::Options;
use rev_core::value::{Data, DynArg};

use super::module;

const ADJOINT: Direction = Direction::ADJOINT;

fn run(module: &Module, args: &[Data]) -> String {
    let options = Options { checks: false, deterministic: true, ..Options::default() };
    let machine = Machine::new(module, &module.entry, Direction::FORWARD, args.to_vec()).unwrap();
    let mut machine = machine.with_options(options).forgetting();
    machine.run().unwrap_or_else(|e| panic!("{e}\n{module}"));
    format!("{:?}", machine.arguments())
}

/// The numbers in a text.
fn numbers(text: &str) -> Vec<f64> {
    text.split(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c))
        .filter_map(|n| n.parse().ok())
        .collect()
}

/// The program of a direction with its products written out, and the loops that they are; run, it gives what the
/// program itself gives, up to rounding where sums have any order.
fn written_out(module: &Module, direction: Direction, args: &[Data]) -> (String, Vec<Expansion>) {
    let mut module = module.clone();
    let mut program = directed(&module, "f", direction).unwrap();
    program.name = "made".to_owned();
    module.entry = "made".to_owned();
    module.functions.insert("made".to_owned(), program);
    infer_module(&mut module);
    let expected = run(&module, args);
    let mut program = module.functions["made"].clone();
    expand(&module, &mut program, true);
    let mut in_any_order = module.clone();
    in_any_order.functions.insert("made".to_owned(), program);
    let (near, exactly) = (numbers(&run(&in_any_order, args)), numbers(&expected));
    assert!(
        !exactly.is_empty() && approx::abs_diff_eq!(near[..], exactly[..], epsilon = 1e-9),
        "{near:?}, not {exactly:?}"
    );
    let mut program = module.functions["made"].clone();
    let made = expand(&module, &mut program, false);
    let text = program.to_string();
    assert!(program.defects.is_empty() && !text.contains("contract("), "{text}");
    module.functions.insert("made".to_owned(), program);
    assert_eq!(run(&module, args), expected, "{text}");
    (text, made)
}

/// The program with its products written out: forward, inverse, and adjoint with some cotangents.
fn each(text: &str, args: &[&dyn DynArg], bars: &[&dyn DynArg]) -> [(String, Vec<Expansion>); 3] {
    let module = module(text);
    let load = |all: &[&dyn DynArg]| all.iter().map(|a| a.load()).collect::<Vec<Data>>();
    let (args, bars) = (load(args), load(bars));
    let both: Vec<Data> = args.iter().cloned().zip(bars).flat_map(|(v, s)| [v, s]).collect();
    [(Direction::FORWARD, &args), (Direction::INVERSE, &args), (ADJOINT, &both)]
        .map(|(direction, args)| written_out(&module, direction, args))
}

fn bars(values: &[f64]) -> Vec<Batch<f64, 1>> {
    values.iter().map(|v| Batch([*v])).collect()
}

fn matrix(rows: usize, columns: usize, from: f64) -> Array2<f64> {
    Array2::from_shape_fn((rows, columns), |(i, j)| from + 0.31 * i as f64 - 0.17 * (j * j) as f64)
}

fn matrix_bars(rows: usize, columns: usize, from: f64) -> Array2<Batch<f64, 1>> {
    matrix(rows, columns, from).mapv(|v| Batch([v]))
}

#[test]
fn elements_of_a_target_are_one_parallel_loop_each_with_its_own_sum() {
    let [forward, _, adjoint] = each(
        "fn f(c: &mut Array2<f64>, a: Array2<f64>, b: Array2<f64>, s: f64) {
            c += contract(\"ik,kj->ij\", a, b)
            c -= contract(\"ki:lower,jk,->ij:upper\", a, b, s)
        }",
        &[&matrix(3, 3, 0.2), &matrix(3, 3, 0.7), &matrix(3, 3, -0.4), &1.7],
        &[&matrix_bars(3, 3, 1.0), &matrix_bars(3, 3, 0.5), &matrix_bars(3, 3, 0.0), &Batch([0.25])],
    );
    let (text, made) = forward;
    assert_eq!(made.len(), 2, "{text}");
    assert_eq!(text.matches("par for").count(), 2, "{text}");
    // one for each factor's shadow
    assert!(adjoint.1.len() >= 5, "{}", adjoint.0);
}

/// The shapes tell where an index is taken for another one.
#[test]
fn every_index_runs_as_far_as_its_axis() {
    let [(text, made), ..] = each(
        "fn f(c: &mut Array2<f64>, a: Array2<f64>, b: Array2<f64>, d: &mut Array2<f64>) {
            c += contract(\"ki,jk->ij\", a, b)
            d -= contract(\"..,->..\", a, 0.5)
        }",
        &[&matrix(2, 5, 0.2), &matrix(3, 2, 0.7), &matrix(5, 3, -0.4), &matrix(3, 2, 0.0)],
        &[&matrix_bars(2, 5, 1.0), &matrix_bars(3, 2, 0.5), &matrix_bars(5, 3, 0.0), &matrix_bars(3, 2, 0.3)],
    );
    assert_eq!((made.len(), made[0].op, made[1].op), (2, UpdateOp::Add, UpdateOp::Sub), "{text}");
    assert!(made.iter().all(|m| m.place.is_some()), "{text}");
}

#[test]
fn sums_are_computed_before_what_reads_them() {
    let [(text, made), ..] = each(
        "fn f(y: &mut f64, x: [f64], a: Array2<f64>) {
            let n = contract(\"..,..->\", x, x) {
                y += n * contract(\"ii->\", a) + contract(\"..->\", a) * sin(contract(\"i,ij,j->\", x, a, x))
            }
            inverse { y += contract(\"i->\", x) }
            managed anc s: f64 = 0.0 {
                s += contract(\"i,i->\", x, x)
                y += s * s
            }
        }",
        &[&0.5, &vec![0.3, -0.7, 1.9], &matrix(3, 3, 0.2)],
        &[&Batch([1.5]), &bars(&[0.0, 0.5, 0.0]), &matrix_bars(3, 3, 0.1)],
    );
    assert_eq!(made.iter().filter(|m| m.place.is_none()).count(), made.len(), "{text}");
    assert!(made.len() >= 6, "{text}");
}

#[test]
fn parts_of_arrays_begin_where_they_are_taken() {
    each(
        "fn f(y: &mut [f64], x: [f64], a: &mut Array2<f64>, b: Array2<f64>) {
            y[1..3] += contract(\"ij,j->i\", b[.., 0..2], x[1..3])
            a[1, ..] -= contract(\"ij,i->j\", b, x[0..2])
            a[.., 2] += contract(\"i->i\", x[2..4])
        }",
        &[&vec![0.5, 0.25, 2.0], &vec![0.3, -0.7, 1.9, 0.8], &matrix(2, 3, 0.2), &matrix(2, 3, 0.6)],
        &[
            &bars(&[0.1, 1.0, 0.7]),
            &bars(&[0.0, 0.5, 0.0, 0.1]),
            &matrix_bars(2, 3, 0.1),
            &matrix_bars(2, 3, 0.2),
        ],
    );
}

/// Inside a parallel loop only a sum is one itself.
#[test]
fn inside_a_parallel_loop_elements_are_loops_in_order() {
    let [(text, made), ..] = each(
        "fn f(y: &mut [f64], z: &mut Array2<f64>, x: [f64], a: Array2<f64>) {
            par for i in 0..len(y) disjoint(z) {
                z[i, ..] += contract(\"j,j->j\", a[i, ..], x)
                y[i] += contract(\"j,j->\", a[i, ..], x)
            }
        }",
        &[&vec![0.5, 0.25], &matrix(2, 3, 0.0), &vec![0.3, -0.7, 1.9], &matrix(2, 3, 0.6)],
        &[&bars(&[0.1, 1.0]), &matrix_bars(2, 3, 0.4), &bars(&[0.0, 0.5, 0.0]), &matrix_bars(2, 3, 0.2)],
    );
    assert_eq!((made.len(), text.matches("par for").count()), (1, 2), "{text}");
}

#[test]
fn factors_that_are_computed_are_computed_once() {
    let [(text, _), ..] = each(
        "fn f(y: &mut [f64], x: [f64], w: f64) {
            y += contract(\"i,->i\", x, exp(w) * w)
        }",
        &[&vec![0.5, 0.25, 0.1], &vec![0.3, -0.7, 1.9], &0.3],
        &[&bars(&[0.1, 1.0, 0.2]), &bars(&[0.0, 0.5, 0.0]), &Batch([0.0])],
    );
    let (before, inside) = text.split_once("par for").unwrap();
    assert!(before.contains("exp(w)") && !inside.contains("exp("), "{text}");
}
