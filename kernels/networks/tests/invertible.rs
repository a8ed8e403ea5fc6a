//! Residual and recurrent networks that can be undone.
#![allow(clippy::unwrap_used)]

#[path = "support/numbers.rs"]
mod support;

use ndarray::Axis;
use rev_cpu::prelude::*;
use rev_networks::recurrent::{plain::update as plain_update, recurrent, update};
use rev_networks::residual::{plain::revnet as plain_revnet, revnet};
use support::{apart, numbers};

#[test]
fn residual_blocks() {
    let (a, b) = (numbers((2, 3, 6), 1), numbers((2, 3, 6), 2));
    let (kernels, bias) = (0.5 * numbers((4, 3, 3, 3), 3), numbers((4, 3), 4));
    let (mut x1, mut x2) = (a.clone(), b.clone());
    let (mut y1, mut y2) = (a.clone(), b.clone());
    revnet(x1.view_mut(), x2.view_mut(), kernels.view(), bias.view()).unwrap();
    plain_revnet(y1.view_mut(), y2.view_mut(), kernels.view(), bias.view());
    assert!(apart(&x1, &y1) < 1e-14 && apart(&x2, &y2) < 1e-14);
    revnet::inverse(x1.view_mut(), x2.view_mut(), kernels.view(), bias.view()).unwrap();
    assert!(apart(&x1, &a) < 1e-14 && apart(&x2, &b) < 1e-14);
    let report =
        revnet::check_gradient(&Cpu::new(), a.view(), b.view(), kernels.view(), bias.view()).unwrap();
    assert!(report.passed(), "{report}");
}

#[test]
fn recurrent_steps() {
    let (a, b, x) = (numbers((3, 4), 1), numbers((3, 4), 2), numbers((20, 3, 2), 3));
    let (gate, bias) = (numbers((2, 4, 6), 4), numbers((2, 4), 5));
    let (new, c) = (numbers((2, 4, 6), 6), numbers((2, 4), 7));
    let (mut y1, mut y2) = (a.clone(), b.clone());
    let at = |half: usize| {
        let gates = (gate.index_axis(Axis(0), half), bias.row(half));
        (gates, (new.index_axis(Axis(0), half), c.row(half)))
    };
    for x in x.outer_iter() {
        let ((gates, values), (gates2, values2)) = (at(0), at(1));
        y1 = plain_update(y1.view(), y2.view(), x, gates, values);
        y2 = plain_update(y2.view(), y1.view(), x, gates2, values2);
    }
    let (gate, bias, new, c) = (gate.view(), bias.view(), new.view(), c.view());
    let (mut h1, mut h2) = (a.clone(), b.clone());
    recurrent(h1.view_mut(), h2.view_mut(), x.view(), gate, bias, new, c).unwrap();
    assert!(apart(&h1, &y1) < 1e-14 && apart(&h2, &y2) < 1e-14);
    recurrent::inverse(h1.view_mut(), h2.view_mut(), x.view(), gate, bias, new, c).unwrap();
    assert!(apart(&h1, &a) < 1e-10 && apart(&h2, &b) < 1e-10);
    let x = x.slice(ndarray::s![..4, .., ..]);
    let report = recurrent::check_gradient(&Cpu::new(), a.view(), b.view(), x, gate, bias, new, c).unwrap();
    assert!(report.passed(), "{report}");
    let ((gates, values), x) = (
        ((gate.index_axis(Axis(0), 0), bias.row(0)), (new.index_axis(Axis(0), 0), c.row(0))),
        x.index_axis(Axis(0), 0),
    );
    let mut h = a.clone();
    update(h.view_mut(), b.view(), x, gates.0, gates.1, values.0, values.1).unwrap();
    assert!(apart(&h, &plain_update(a.view(), b.view(), x, gates, values)) < 1e-15);
}
