//! Products and sums of whole arrays: one formula says which elements are multiplied and added up.
//!
//! `C += A·B` is the formula `ik,kj->ij`: for each `i` and `j` the sum over `k` of `A[i, k]·B[k, j]`
//! goes into `C[i, j]`. Every array instruction of the language is a formula ([`super::ArrayFunc`] is the
//! table of names), and so is the derivative of every formula by each of its factors: the target's
//! shadow takes the factor's place, the factor's shadow the target's ([`Contraction::adjoint`]). So
//! the interpreter, the emitted Rust, the kernels of a GPU and the adjoint each have one rule for all.
//!
//! # Meaning
//!
//! An element of the target gets one sum, which is formed first and then added (or subtracted): it
//! starts at zero, and its terms come in the order of the summed letters, the first of them slowest;
//! letters are ordered by their first appearance in the factors. Where nothing is summed and
//! all factors are whole it is its one term. A term is the product of the factors from left to right. Where the target is a scalar, the first summed letter counts the iterations of
//! a parallel loop, whose sum in the deterministic mode is that of `rev_core::tree`. Outside of the
//! deterministic mode a device may form sums in any order.

use std::fmt;

/// The most axes of an operand.
pub const MAX_AXES: usize = 6;
/// The most factors of a product.
pub const MAX_FACTORS: usize = 4;

/// A formula: a target and its factors. The factor that is a shadow, where one is, comes first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Contraction {
    /// What is added to.
    pub target: Operand,
    factors: [Operand; MAX_FACTORS],
    count: usize,
}

/// One array (or scalar) of a formula.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Operand {
    /// Which index runs along each axis.
    pub axes: Axes,
    /// Which of its elements take part.
    pub part: Part,
    /// Whether its elements are conjugated. A target's never are.
    pub conj: bool,
}

/// The letters of an operand's axes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Axes {
    /// `ik`: one letter (0 for `a`) for each axis; none for a scalar.
    Letters([u8; MAX_AXES], u8),
    /// `..`: all axes of an array, however many, the same in every operand that says so.
    All,
}

/// The elements of a matrix that take part; the others count as zero, and get nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// All of them.
    Whole,
    /// On and below the diagonal.
    Lower,
    /// On and above the diagonal.
    Upper,
    /// Below the diagonal.
    StrictLower,
    /// Above the diagonal.
    StrictUpper,
}

impl Part {
    /// Every part with its name in formulas.
    pub const ALL: [(Part, &'static str); 5] = [
        (Part::Whole, "whole"),
        (Part::Lower, "lower"),
        (Part::Upper, "upper"),
        (Part::StrictLower, "strict_lower"),
        (Part::StrictUpper, "strict_upper"),
    ];

    /// The name in formulas.
    pub fn name(self) -> &'static str {
        Self::ALL.iter().find(|(p, _)| *p == self).map_or("", |(_, n)| n)
    }

    /// Whether the element at a row and column takes part.
    #[inline(always)]
    pub const fn has(self, row: usize, column: usize) -> bool {
        match self {
            Part::Whole => true,
            Part::Lower => row >= column,
            Part::Upper => row <= column,
            Part::StrictLower => row > column,
            Part::StrictUpper => row < column,
        }
    }

    /// The same part of the transposed matrix.
    pub const fn transposed(self) -> Part {
        match self {
            Part::Whole => Part::Whole,
            Part::Lower => Part::Upper,
            Part::Upper => Part::Lower,
            Part::StrictLower => Part::StrictUpper,
            Part::StrictUpper => Part::StrictLower,
        }
    }
}

impl Operand {
    /// A scalar.
    pub const SCALAR: Operand =
        Operand { axes: Axes::Letters([0; MAX_AXES], 0), part: Part::Whole, conj: false };

    /// The number of axes, where the formula says it.
    pub const fn rank(&self) -> Option<usize> {
        match self.axes {
            Axes::Letters(_, n) => Some(n as usize),
            Axes::All => None,
        }
    }

    /// Whether it is a scalar.
    pub const fn is_scalar(&self) -> bool {
        matches!(self.axes, Axes::Letters(_, 0))
    }

    /// The letters, none where all axes are meant.
    pub fn letters(&self) -> &[u8] {
        match &self.axes {
            Axes::Letters(letters, n) => &letters[..usize::from(*n)],
            Axes::All => &[],
        }
    }

    /// The operand with its two axes exchanged: `a.t()`.
    pub fn transposed(mut self) -> Operand {
        if let Axes::Letters(letters, 2) = &mut self.axes {
            letters.swap(0, 1);
        }
        self
    }

    /// The same with a letter in place of another.
    pub fn renamed(mut self, from: u8, to: u8) -> Operand {
        if let Axes::Letters(letters, n) = &mut self.axes {
            letters[..usize::from(*n)].iter_mut().filter(|l| **l == from).for_each(|l| *l = to);
        }
        self
    }
}

impl Contraction {
    /// A formula of these operands; `None` for no factors, or for more than [`MAX_FACTORS`].
    pub fn new(target: Operand, factors: &[Operand]) -> Option<Contraction> {
        let mut all = [Operand::SCALAR; MAX_FACTORS];
        all.get_mut(..factors.len())?.copy_from_slice(factors);
        (!factors.is_empty()).then_some(Contraction { target, factors: all, count: factors.len() })
    }

    /// The factors.
    pub fn factors(&self) -> &[Operand] {
        &self.factors[..self.count]
    }

    /// The same with one more factor, a scalar.
    pub fn scaled(&self) -> Option<Contraction> {
        let mut factors = self.factors().to_vec();
        factors.push(Operand::SCALAR);
        Contraction::new(self.target, &factors)
    }

    /// The pullback to factor `k`: the target's shadow first, then the other factors in order; the
    /// result goes to the shadow of factor `k`. With `complex`, by the convention that the gradient
    /// of a real loss is `∂L/∂re + i ∂L/∂im`, the others are conjugated.
    ///
    /// From `c = Σ x·y` follows `x̄ += Σ c̄·conj(y)`, and where the formula has `conj(x)`,
    /// `x̄ += conj(Σ c̄·conj(y)) = Σ conj(c̄)·y`.
    pub fn adjoint(&self, k: usize, complex: bool) -> Contraction {
        let own = self.factors[k];
        let mut factors = [Operand::SCALAR; MAX_FACTORS];
        factors[0] = Operand { conj: complex && own.conj, ..self.target };
        let others = self.factors().iter().enumerate().filter(|(j, _)| *j != k);
        for (slot, (_, other)) in factors[1..].iter_mut().zip(others) {
            *slot = Operand { conj: complex && (other.conj == own.conj), ..*other };
        }
        Contraction { target: Operand { conj: false, ..own }, factors, count: self.count }
    }

    /// The formula that a text says: `ik,kj->ij`; `..` for all axes, `:lower` and so on for a part,
    /// `*` for the conjugate.
    ///
    /// # Errors
    ///
    /// What is wrong with it.
    pub const fn parse(text: &str) -> Result<Contraction, &'static str> {
        let mut parser = Parser { text: text.as_bytes(), at: 0 };
        let mut factors = [Operand::SCALAR; MAX_FACTORS];
        let mut count = 0;
        loop {
            if count == MAX_FACTORS {
                return Err("a formula has at most four factors");
            }
            factors[count] = match parser.operand() {
                Ok(operand) => operand,
                Err(message) => return Err(message),
            };
            count += 1;
            if !parser.eat(b",") {
                break;
            }
        }
        if !parser.eat(b"->") {
            return Err("`,` or `->` is missing in the formula");
        }
        let target = match parser.operand() {
            Ok(operand) => operand,
            Err(message) => return Err(message),
        };
        if parser.at != parser.text.len() {
            return Err("the formula goes on after its target");
        }
        if target.conj {
            return Err("a target can't be conjugated");
        }
        Ok(Contraction { target, factors, count })
    }

    /// The formula of a text that is known to be one: for emitted code.
    pub const fn known(text: &str) -> Contraction {
        match Contraction::parse(text) {
            Ok(formula) => formula,
            Err(_) => {
                Contraction { target: Operand::SCALAR, factors: [Operand::SCALAR; MAX_FACTORS], count: 1 }
            }
        }
    }
}

/// Reads a formula, also while a program is compiled.
struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    const fn eat(&mut self, word: &[u8]) -> bool {
        let mut k = 0;
        while k < word.len() {
            if self.at + k >= self.text.len() || self.text[self.at + k] != word[k] {
                return false;
            }
            k += 1;
        }
        self.at += word.len();
        true
    }

    const fn operand(&mut self) -> Result<Operand, &'static str> {
        let axes = if self.eat(b"..") {
            Axes::All
        } else {
            let mut letters = [0; MAX_AXES];
            let mut n = 0;
            while self.at < self.text.len() && self.text[self.at].is_ascii_lowercase() {
                if n == MAX_AXES {
                    return Err("an operand has at most six axes");
                }
                letters[n] = self.text[self.at] - b'a';
                n += 1;
                self.at += 1;
            }
            Axes::Letters(letters, n as u8)
        };
        let mut part = Part::Whole;
        if self.eat(b":") {
            let mut k = 0;
            loop {
                if k == Part::ALL.len() {
                    return Err("a part is `lower`, `upper`, `strict_lower` or `strict_upper`");
                }
                if self.eat(Part::ALL[k].1.as_bytes()) {
                    part = Part::ALL[k].0;
                    break;
                }
                k += 1;
            }
            if !matches!(axes, Axes::Letters(_, 2)) {
                return Err("only a matrix has triangles");
            }
        }
        Ok(Operand { axes, part, conj: self.eat(b"*") })
    }
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.axes {
            Axes::All => f.write_str("..")?,
            Axes::Letters(..) => {
                for letter in self.letters() {
                    write!(f, "{}", char::from(b'a' + letter))?;
                }
            }
        }
        if self.part != Part::Whole {
            write!(f, ":{}", self.part.name())?;
        }
        f.write_str(if self.conj { "*" } else { "" })
    }
}

impl fmt::Display for Contraction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (k, factor) in self.factors().iter().enumerate() {
            write!(f, "{}{factor}", if k > 0 { "," } else { "" })?;
        }
        write!(f, "->{}", self.target)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formulas_are_read_as_they_are_written() {
        for text in ["ik,kj->ij", "..,..->", ",i*,j->ij:lower", "ik:strict_upper*,kj->ij", "->..", "ii->i"] {
            assert_eq!(Contraction::parse(text).unwrap().to_string(), text);
        }
        for wrong in ["ij", "ij->ij*", "i:lower->i", "ij:diagonal->ij", "a,b,c,d,e->", "abcdefg->", "ij->ij "]
        {
            assert!(Contraction::parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn the_adjoint_of_a_product_is_two_products() {
        let product = Contraction::known("ik:lower,kj->ij");
        assert_eq!(product.adjoint(0, false).to_string(), "ij,kj->ik:lower");
        assert_eq!(product.adjoint(1, false).to_string(), "ij,ik:lower->kj");
        assert_eq!(product.adjoint(1, true).to_string(), "ij,ik:lower*->kj");
        let hermitian = Contraction::known("ki*,kj->ij");
        assert_eq!(hermitian.adjoint(0, true).to_string(), "ij*,kj->ki");
        assert_eq!(hermitian.adjoint(1, true).to_string(), "ij,ki->kj");
    }

    #[test]
    fn the_adjoint_of_the_adjoint_has_the_first_formula_in_it() {
        let product = Contraction::known("ik,kj->ij");
        // x̄ += c̄·conj(y): by c̄ again it is x·y
        let back = product.adjoint(0, true).adjoint(0, true);
        assert_eq!(back.to_string(), "ik,kj->ij");
    }
}
