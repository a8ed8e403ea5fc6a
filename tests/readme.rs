//! The results that the README shows beside its code.

use rev::prelude::*;

#[reversible]
fn fit<T: Real>(loss: &mut T, w: &[T], x: ArrayView2<T>, y: &[T]) {
    for i in par(0..y.len()) {
        let mut p = T::zero();
        for j in 0..w.len() {
            p += x[[i, j]] * w[j];
        }
        let r = p - y[i];
        *loss += r * r / (1.0 + r.abs());
    }
}

#[test]
fn the_results_in_the_readme_are_those_of_its_code() {
    let w = [0.5, -1.0];
    let x = ndarray::arr2(&[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]);
    let y = [1.0, 2.0, 3.0];
    let mut loss = 10.0;
    fit(&mut loss, &w, x.view(), &y).unwrap();
    let mut printed = vec![format!("{loss:.6}")];
    fit::inverse(&mut loss, &w, x.view(), &y).unwrap();
    printed.push(format!("{loss:.6}"));
    let g = fit::gradient(&Cpu::new(), &w, x.view(), &y).unwrap();
    printed.extend([format!("{:.6}", g.value), format!("{:.6?}", g.w), format!("{:.6?}", g.y)]);
    let readme = include_str!("../README.md");
    let code = readme.split("```").nth(1).unwrap();
    let shown: Vec<&str> =
        code.lines().filter(|l| l.contains("println!")).filter_map(|l| l.split("// ").nth(1)).collect();
    assert_eq!(shown, printed);
}
