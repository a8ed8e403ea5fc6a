//! The gradient and the Hessian of a result by the numbers that are live at a point of a run, which are changed as the
//! run goes backwards.
//!
//! Gower and Mello, "A new framework for the computation of Hessians", Optimization Methods and Software 27 (2012),
//! 251–273: where `v = φ(a, b)` is undone, with `W` the Hessian and `v̄` the gradient, for every other number `j`
//! `W_ja += φ_a W_jv`, `W_aa += φ_a² W_vv + v̄ φ_aa` and so on, and the row of `v` goes. Where `y += v` is undone, the row
//! of `y` stays.

use std::collections::BTreeMap;

/// A number that is live; 0 is none.
pub type Id = u32;

/// A function of numbers, with one result or the two parts of a complex one.
#[derive(Clone, Debug)]
pub struct Step {
    /// The results.
    pub results: Vec<Id>,
    /// The arguments, some of which may be the same.
    pub args: Vec<Id>,
    /// For each result its derivatives by the arguments.
    pub first: Vec<Vec<f64>>,
    /// For each result its second derivatives: by argument `k` and each `j <= k`.
    pub second: Vec<Vec<Vec<f64>>>,
}

/// The gradient and the Hessian.
#[derive(Debug, Default)]
pub struct Curvature {
    gradient: Vec<f64>,
    rows: Vec<BTreeMap<Id, f64>>,
    free: Vec<Id>,
}

impl Curvature {
    /// A new number, which the result doesn't depend on yet.
    pub fn add(&mut self) -> Id {
        if self.rows.is_empty() {
            self.rows.push(BTreeMap::new());
            self.gradient.push(0.0);
        }
        self.free.pop().unwrap_or_else(|| {
            self.rows.push(BTreeMap::new());
            self.gradient.push(0.0);
            (self.rows.len() - 1) as Id
        })
    }

    /// The number is the result.
    pub fn seed(&mut self, id: Id) {
        self.gradient[id as usize] = 1.0;
    }

    /// The second derivatives by a number and others.
    pub fn row(&self, id: Id) -> impl Iterator<Item = (Id, f64)> + '_ {
        self.rows[id as usize].iter().map(|(j, w)| (*j, *w))
    }

    /// The number isn't there before this point.
    pub fn remove(&mut self, id: Id) {
        for (j, _) in std::mem::take(&mut self.rows[id as usize]) {
            self.rows[j as usize].remove(&id);
        }
        self.gradient[id as usize] = 0.0;
        self.free.push(id);
    }

    /// `y += v` is undone, or `y -= v` with -1 for the sign.
    pub fn undo_sum(&mut self, y: Id, v: Id, sign: f64) {
        self.gradient[v as usize] += sign * self.gradient[y as usize];
        let row: Vec<(Id, f64)> = self.row(y).collect();
        for (j, w) in row {
            if j == y {
                self.meet(v, y, sign * w);
                self.square(v, w);
            } else {
                self.meet(v, j, sign * w);
            }
        }
    }

    /// A function is undone: its results go.
    pub fn undo(&mut self, step: &Step) {
        let args = || step.args.iter().copied().enumerate();
        for (r, u) in step.results.iter().enumerate() {
            let row: Vec<(Id, f64)> = self.row(*u).collect();
            for (j, w) in row {
                match step.results.iter().position(|other| *other == j) {
                    None => args().for_each(|(k, x)| self.meet(x, j, product(step.first[r][k], w))),
                    Some(s) => self.undo_pair(step, (r, s), w),
                }
            }
            let bar = self.gradient[*u as usize];
            for (k, x) in args().filter(|_| bar != 0.0) {
                self.gradient[x as usize] += product(step.first[r][k], bar);
                for (j, other) in args().take(k) {
                    self.meet(x, other, product(step.second[r][k][j], bar));
                }
                self.square(x, product(step.second[r][k][k], bar));
            }
        }
        step.results.iter().for_each(|u| self.remove(*u));
    }

    /// The second derivative by two results, which comes to the arguments of both.
    fn undo_pair(&mut self, step: &Step, (r, s): (usize, usize), w: f64) {
        for (k, x) in step.args.iter().enumerate() {
            for (j, other) in step.args.iter().enumerate().take(k) {
                let crossed = product(step.first[r][k], product(step.first[s][j], w));
                // each pair of results comes twice, unless they are one
                let turned = product(step.first[s][k], product(step.first[r][j], w));
                self.meet(*x, *other, 0.5 * (crossed + turned));
            }
            self.square(*x, product(step.first[r][k], product(step.first[s][k], w)));
        }
    }

    /// `2 w δa δb` more in the quadratic form.
    fn meet(&mut self, a: Id, b: Id, w: f64) {
        if a == b {
            self.square(a, 2.0 * w);
        } else if w != 0.0 {
            *self.rows[a as usize].entry(b).or_default() += w;
            *self.rows[b as usize].entry(a).or_default() += w;
        }
    }

    /// `w δa²` more in it.
    fn square(&mut self, a: Id, w: f64) {
        if w != 0.0 {
            *self.rows[a as usize].entry(a).or_default() += w;
        }
    }
}

/// The product with a derivative, which may be infinite where nothing comes back.
fn product(derivative: f64, by: f64) -> f64 {
    match by == 0.0 {
        true => 0.0,
        false => derivative * by,
    }
}
