//! Sequential loops of the host that become kernels of many threads, and those that don't.

use super::*;

/// How many kernels of many threads, and of one, a function becomes.
fn kernels(text: &str, direction: Direction, args: &[Data], checks: bool) -> (usize, usize) {
    lowered(text, direction, args, &LowerOptions { checks, ..LowerOptions::default() })
}

fn lowered(text: &str, direction: Direction, args: &[Data], options: &LowerOptions) -> (usize, usize) {
    let m = module(text);
    let types = ArgumentType::of_arguments(&m, direction, args).unwrap();
    let plan = lower(&m, direction, &types, options).unwrap();
    let many = plan.kernels.iter().filter(|k| k.name.contains("_par")).count();
    (many, plan.kernels.len() - many)
}

fn forward(text: &str, args: &[Data]) -> (usize, usize) {
    kernels(text, Direction::FORWARD, args, false)
}

fn some(n: u32) -> Data {
    reals((0..n).map(|i| (f64::from(i) * 0.7).sin()))
}

const EXPONENTIALS: &str = "module exponentials
     fn exponentials<T: Real>(y: &mut [T], total: &mut T, x: [T]) {
         let n: usize = len(x) {
             for i in 0..n { y[i] += exp(x[i]) * x[i] }
             par for i in 0..n { total += y[i] * y[i] }
         }
     }";

#[test]
fn elements_of_their_own() {
    let args = [some(300), Data::scalar(0.5), some(300)];
    assert_eq!(forward(EXPONENTIALS, &args), (2, 0));
    let seeds = [some(300), Data::scalar(1.0), some(300).zero_like()];
    let both: Vec<Data> = args.iter().zip(&seeds).flat_map(|(a, s)| [a.clone(), s.clone()]).collect();
    assert_eq!(kernels(EXPONENTIALS, ADJOINT, &both, false), (2, 0));
    agrees(&module(EXPONENTIALS), &args, &seeds);
    // with checks the error is that of the first iteration that fails
    assert_eq!(kernels(EXPONENTIALS, Direction::FORWARD, &args, true), (1, 1));
}

#[test]
fn in_functions_that_are_called() {
    let text = "module calls
         fn scale<T: Real>(y: &mut [T], x: [T]) { for i in 0..len(x) { y[i] += sin(x[i]) } }
         fn calls<T: Real>(y: &mut [T], x: [T], n: usize) {
             call scale(&mut y, &x)
             for k in 0..n { call scale(&mut y, &x) }
             for k in 0..n { let m: usize = k { call scale(&mut y, &x) } }
         }";
    let args = [some(100), some(100), Data::scalar(3usize)];
    let mut m = module(text);
    m.entry = "calls".into();
    let types = ArgumentType::of_arguments(&m, Direction::FORWARD, &args).unwrap();
    let plan = lower(&m, Direction::FORWARD, &types, &LowerOptions::default()).unwrap();
    let names: Vec<bool> = plan.kernels.iter().map(|k| k.name.contains("_par")).collect();
    assert_eq!(names, [true, false], "the loops around a call stay with one thread");
    agrees(&m, &args, &[some(100), some(100).zero_like(), Data::None]);
}

/// Where sums may have any order; in the deterministic mode they have the loop's, and numbers of 128 bits can't be shared.
#[test]
fn sums_in_any_order() {
    let text = "module sums
         fn sums<T: Real>(s: &mut T, bins: &mut [T], x: [T], count: &mut i64) {
             for i in 0..len(x) { s += x[i] * x[i] bins[i % 3] -= sin(x[i]) count += 2 }
         }";
    let args = [Data::scalar(0.5), some(3), some(300), Data::scalar(1i64)];
    assert_eq!(forward(text, &args), (1, 0));
    let in_order = LowerOptions { deterministic: true, ..LowerOptions::default() };
    assert_eq!(lowered(text, Direction::FORWARD, &args, &in_order), (0, 1));
    let seeds = [Data::scalar(1.0), some(3), some(300).zero_like(), Data::None];
    agrees(&module(text), &args, &seeds);
    agrees_in_any_order(&module(text), &args, &seeds);
    let wide = "module wide fn wide(s: &mut i128, x: [i128]) { for i in 0..len(x) { s += x[i] } }";
    let numbers = Data::vector((0..100).map(|i| Data::scalar(i as i128)).collect());
    assert_eq!(forward(wide, &[Data::scalar(0i128), numbers.clone()]), (0, 1));
    let local = "module local fn local(y: &mut i64, x: [i64]) {
             anc s: i128 = 0_i128 { for i in 0..len(x) { s += x[i] as i128 } y += s as i64 release s = 0_i128 }
         }";
    let numbers = Data::vector((0..100).map(|i| Data::scalar(i as i64)).collect());
    assert_eq!(forward(local, &[Data::scalar(0i64), numbers]), (0, 1));
}

#[test]
fn what_stays_with_one_thread() {
    let x = || some(100);
    let stays = |body: &str, args: &[Data]| {
        let text = format!(
            "module stays fn stays<T: Real>(y: &mut [T], s: &mut T, x: [T], n: &mut usize) {{ {body} }}"
        );
        assert_eq!(forward(&text, args), (0, 1), "{body}");
    };
    let args = [x(), Data::scalar(0.5), x(), Data::scalar(7usize)];
    // an element that the iteration before has written
    stays("for i in 1..len(y) { y[i] += y[i - 1] }", &args);
    // too few for a launch
    stays("for i in 0..63 { y[i] += x[i] }", &args);
    // a number of iterations that the host would have to wait for
    stays("n += 2 for i in 0..n { y[i] += x[i] } n -= 2", &args);
    // an array for each thread
    stays(
        "for i in 0..len(x) { anc t: [T] = fill(0, 50) { t[0] += x[i] y[i] += t[0] t[0] -= x[i] } }",
        &args,
    );
    // loops and branches around it
    stays("for k in 0..3 { for i in 0..len(x) { y[i] += x[i] * x[k] } }", &args);
    stays("if x[0] > 0 { for i in 0..len(x) { y[i] += x[i] } }", &args);
}

#[test]
fn as_many_as_make_a_launch_worth_it() {
    let text = "module enough fn enough<T: Real>(y: &mut [T], x: [T]) { for i in 0..64 { y[i] += x[i] } }";
    assert_eq!(forward(text, &[some(64), some(64)]), (1, 0));
}
