//! What instructions leave in their places, as expressions in what was there and in the operands: so the rules of
//! derivatives are those of the functions in them.

use super::tree::Tree;
use super::walk::{Algebra, Found, Walk};
use crate::error::Cause;
use crate::interp::memory::Location;
use crate::ir::{Expr, Place, VarId};
use crate::ops::{Func, Instr};
use crate::scalar::Num;
use crate::value::{literal_number, Data};

/// The name of what was in place `k`, or of operand `k - places`: none that a function has.
fn name(k: usize) -> VarId {
    VarId(u32::MAX - k as u32)
}

/// The values after an instruction on numbers, but for an exchange.
fn results(instr: Instr) -> Vec<Expr> {
    let read = |k: usize| Expr::read(Place::var(name(k)));
    let (a, b, c) = (read(0), read(1), read(2));
    let turned = |sine: Expr| {
        let cosine = Expr::func(Func::Cos, vec![c.clone()]);
        vec![a.clone() * cosine.clone() - b.clone() * sine.clone(), a.clone() * sine + b.clone() * cosine]
    };
    let sine = Expr::func(Func::Sin, vec![c.clone()]);
    match instr {
        Instr::Swap => vec![b, a],
        Instr::Neg => vec![Expr::func(Func::Neg, vec![a])],
        Instr::Inc => vec![a + Expr::int(1)],
        Instr::Dec => vec![a - Expr::int(1)],
        Instr::Flip => vec![Expr::func(Func::Not, vec![a])],
        Instr::Conj => vec![Expr::func(Func::Conj, vec![a])],
        Instr::Inv => vec![Expr::func(Func::Recip, vec![a])],
        Instr::Rot => turned(sine),
        Instr::Irot => turned(-sine),
        Instr::Hadamard => {
            let root = || Expr::float(std::f64::consts::FRAC_1_SQRT_2);
            vec![(a.clone() + b.clone()) * root(), (a - b) * root()]
        }
        Instr::MulInt | Instr::ScaleBy => vec![a * b],
        Instr::DivInt | Instr::UnscaleBy => vec![Expr::func(Func::Div, vec![a, b])],
    }
}

impl<A: Algebra> Walk<'_, '_, A> {
    /// The leaves after an instruction: on each number in a place where there is one place, on numbers where there
    /// are two.
    pub fn instructed(
        &mut self,
        instr: Instr,
        places: Vec<Found<A::Leaf>>,
        operands: &[Found<A::Leaf>],
    ) -> Result<Vec<Tree<A::Leaf>>, Cause> {
        if instr == Instr::Swap {
            return Ok(places.into_iter().rev().map(|(_, tree)| tree).collect());
        }
        let mut places = places.into_iter();
        match (places.next(), places.next()) {
            (Some((data, tree)), None) => {
                let mut one = |number: &Data, leaf: A::Leaf| {
                    let place = (number.clone(), Tree::Same(leaf));
                    let found = self.results(instr, vec![place], operands)?;
                    Ok(found.into_iter().next().unwrap_or_default())
                };
                Ok(vec![tree.map::<Cause>(&data, &mut one)?])
            }
            (Some(a), Some(b)) => {
                let found = self.results(instr, vec![a, b], operands)?;
                Ok(found.into_iter().map(Tree::Same).collect())
            }
            (None, _) => Ok(Vec::new()),
        }
    }

    fn results(
        &mut self,
        instr: Instr,
        places: Vec<Found<A::Leaf>>,
        operands: &[Found<A::Leaf>],
    ) -> Result<Vec<A::Leaf>, Cause> {
        let depth = (self.eval.locals.len(), self.names.len());
        let sample = places.first().map_or(Data::None, |(data, _)| data.clone());
        let operands = operands.iter().map(|(data, tree)| (typed(data, &sample), tree.clone()));
        for (k, (data, tree)) in places.into_iter().chain(operands).enumerate() {
            self.eval.locals.push((name(k), data));
            self.names.push((name(k), tree));
        }
        let mut one = |e: &Expr| {
            let (_, tree) = self.walk(e)?;
            Ok(self.algebra.any(tree))
        };
        let found = results(instr).iter().map(&mut one).collect();
        self.eval.locals.truncate(depth.0);
        self.names.truncate(depth.1);
        found
    }
}

/// An operand in the type of the place: the factor of `mul_int` is an integer.
fn typed(operand: &Data, place: &Data) -> Data {
    match (operand, place) {
        (Data::Scalar(k), Data::Scalar(v)) if k.is_integer() && !v.is_integer() => {
            v.same_type(k.to_num()).map_or(Data::None, Data::Scalar)
        }
        (Data::Literal(n), Data::Scalar(v)) => {
            let number: Num = literal_number(*n);
            v.same_type(number).map_or(Data::None, Data::Scalar)
        }
        _ => operand.clone(),
    }
}

/// The locations of two places: of an exchange with itself nothing is left to do.
pub fn exchanges_nothing(instr: Instr, at: &[Location]) -> bool {
    instr == Instr::Swap && matches!(at, [a, b] if a == b)
}
