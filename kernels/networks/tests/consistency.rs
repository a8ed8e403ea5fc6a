//! Learning by consistency, with the numbers of the papers.
#![allow(clippy::unwrap_used)]

use approx::{abs_diff_eq, assert_abs_diff_eq};
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_networks::consistency::*;

#[test]
fn what_forgets_its_input_learns() {
    let task = Task::PUBLISHED;
    let learned = learn(&Cpu::new(), Program::ForgetsInput, task, 100).unwrap();
    assert_eq!(learned.outputs.len(), 100);
    assert_abs_diff_eq!(learned.outputs[0], 1.9f64.exp() - 0.3f64.exp(), epsilon = 1e-14);
    assert_abs_diff_eq!(learned.outputs[99], 1.0, epsilon = 1e-11);
    assert_abs_diff_eq!(learned.p, task.solution(), epsilon = 1e-11);
    let mut p = task.p;
    for output in &learned.outputs[..20] {
        let (expected, next) = plain::round(Task { p, ..task });
        assert_abs_diff_eq!(*output, expected, epsilon = 1e-12);
        p = next;
    }
}

#[test]
fn what_keeps_its_input_does_not_learn() {
    let task = Task::PUBLISHED;
    let learned = learn(&Cpu::new(), Program::KeepsInput, task, 100).unwrap();
    assert!(learned.outputs.iter().all(|&y| abs_diff_eq!(y, learned.outputs[0], epsilon = 1e-12)));
    assert_abs_diff_eq!(learned.p, task.p, epsilon = 1e-13);
}

#[test]
fn other_tasks_and_the_interpreter() {
    for task in [Task { x: -0.5, target: 0.2, p: 1.0 }, Task { x: 1.2, target: 3.0, p: 0.5 }] {
        let learned = learn(&Interpreter::new(), Program::ForgetsInput, task, 400).unwrap();
        assert!(abs_diff_eq!(learned.p, task.solution(), epsilon = 1e-9), "{task:?}");
    }
}

#[test]
fn there_and_back() {
    assert!(keeps_input::check_inverse(&Cpu::new(), &0.2, 0.3, &1.6).unwrap().passed());
    assert!(forgets_input::check_inverse(&Cpu::new(), &0.2, &0.3, &1.6).unwrap().passed());
    let report = forgets_input::check_gradient(&Cpu::new(), &0.2, &0.3, &1.6).unwrap();
    assert!(report.passed(), "{report}");
}
