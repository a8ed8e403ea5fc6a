//! Quotients by the same divisor. A division that is rounded as IEEE says is some thirty machine
//! instructions, most of them for rare arguments. Where three or more quotients have one divisor, and all
//! dividends are there when the first is wanted, they take turns in one.

use std::collections::{HashMap, HashSet};

use crate::kernel::{Inst, Kernel, Op, Operand, Reg, Ty};

use super::signs::visit;

/// How many quotients pay for taking turns: each costs four moves or so.
const ENOUGH: usize = 3;

/// Brings quotients together.
pub(super) fn gather(kernel: &mut Kernel) {
    let mut assigned = vec![0usize; kernel.registers.len()];
    visit(&kernel.body, &mut |inst| {
        if let Some(to) = result(inst) {
            assigned[to.0 as usize] += 1;
        }
    });
    let mut body = std::mem::take(&mut kernel.body);
    gather_in(kernel, &mut body, &assigned);
    kernel.body = body;
}

/// The register that an instruction assigns.
pub(super) fn result(inst: &Inst) -> Option<Reg> {
    match inst {
        Inst::Op { to, .. }
        | Inst::Special { to, .. }
        | Inst::Load { to, .. }
        | Inst::Shuffle { to, .. }
        | Inst::Gathered { to, .. } => Some(*to),
        Inst::Fetch { old, .. } => Some(*old),
        Inst::Quotients { .. }
        | Inst::Store { .. }
        | Inst::Reduce { .. }
        | Inst::Barrier
        | Inst::If { .. }
        | Inst::Loop { .. }
        | Inst::Fail { .. }
        | Inst::Comment { .. } => None,
    }
}

fn gather_in(kernel: &Kernel, body: &mut Vec<Inst>, assigned: &[usize]) {
    for inst in body.iter_mut() {
        match inst {
            Inst::If { then, otherwise, .. } => {
                gather_in(kernel, then, assigned);
                gather_in(kernel, otherwise, assigned);
            }
            Inst::Loop { before, body, .. } => {
                gather_in(kernel, before, assigned);
                gather_in(kernel, body, assigned);
            }
            _ => {}
        }
    }
    let once = |operand: &Operand| match operand {
        Operand::Reg(reg) => assigned[reg.0 as usize] <= 1,
        Operand::Const(..) => true,
    };
    // where in this block registers are assigned; what isn't here was before it
    let mut at: HashMap<Reg, usize> = HashMap::new();
    for (k, inst) in body.iter().enumerate() {
        visit(std::slice::from_ref(inst), &mut |inner| {
            if let Some(to) = result(inner) {
                at.insert(to, k);
            }
        });
    }
    let mut groups: HashMap<Reg, (usize, Vec<usize>)> = HashMap::new();
    for (k, inst) in body.iter().enumerate() {
        let Some((to, over, under)) = quotient(kernel, inst) else { continue };
        if ![Operand::Reg(to), over, Operand::Reg(under)].iter().all(once) {
            continue;
        }
        let (first, group) = groups.entry(under).or_insert((k, Vec::new()));
        let there = match over {
            Operand::Reg(reg) => at.get(&reg).is_none_or(|made| made < first),
            Operand::Const(..) => true,
        };
        if there {
            group.push(k);
        }
    }
    let mut gone: HashSet<usize> = HashSet::new();
    for (under, (first, group)) in groups {
        if group.len() < ENOUGH {
            continue;
        }
        let parts = group.iter().filter_map(|k| quotient(kernel, &body[*k]));
        let (to, over) = parts.map(|(to, over, _)| (to, over)).unzip();
        gone.extend(group.iter().filter(|k| **k != first));
        body[first] = Inst::Quotients { to, over, under: under.into() };
    }
    let mut k = 0;
    body.retain(|_| {
        k += 1;
        !gone.contains(&(k - 1))
    });
}

/// A quotient of 64-bit floats: where it goes, and what is divided by which register.
fn quotient(kernel: &Kernel, inst: &Inst) -> Option<(Reg, Operand, Reg)> {
    let Inst::Op { to, op: Op::Div, args } = inst else { return None };
    match args.as_slice() {
        [over, Operand::Reg(under)] if kernel.ty(*to) == Ty::F64 => Some((*to, *over, *under)),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `a / d`, `b / d`, `c = a + b`, `c / d`, `1 / d`: the third has to wait.
    #[test]
    fn what_is_there_is_gathered() {
        let mut kernel = Kernel::default();
        let [a, b, c, d] = ["a", "b", "c", "d"].map(|name| kernel.register(Ty::F64, name));
        let to: Vec<Reg> = (0..4).map(|_| kernel.register(Ty::F64, "q")).collect();
        let div = |k: usize, over: Operand| Inst::Op { to: to[k], op: Op::Div, args: vec![over, d.into()] };
        let sum = Inst::Op { to: c, op: Op::Add, args: vec![a.into(), b.into()] };
        let one = Operand::f64(1.0);
        kernel.body = vec![div(0, a.into()), div(1, b.into()), sum.clone(), div(2, c.into()), div(3, one)];
        gather(&mut kernel);
        let together = Inst::Quotients {
            to: vec![to[0], to[1], to[3]],
            over: vec![a.into(), b.into(), one],
            under: d.into(),
        };
        assert_eq!(kernel.body, [together, sum.clone(), div(2, c.into())]);
        // a divisor that changes
        let again = Inst::Op { to: d, op: Op::Move, args: vec![c.into()] };
        let apart = vec![div(0, a.into()), again.clone(), div(1, b.into()), again, div(3, one)];
        kernel.body.clone_from(&apart);
        gather(&mut kernel);
        assert_eq!(kernel.body, apart);
    }
}
