//! Matrix products that a driver's library can run: which updates are one, and how the host asks for
//! it. The loops stay beside it, for drivers without a library.
//!
//! Arrays lie with their first axis fastest, as such libraries expect matrices. Complex numbers are
//! two planes of real ones, cotangents side by side as many: a product of these is several products of planes.

use rev_core::ir::{Expr, ExprKind, Number, Place, ScalarType, UpdateOp};
use rev_core::ops::{Contraction, Operand, Part};
use rev_core::pass::Expansion;

use crate::kernel::{Space, Ty};
use crate::plan::{BufferId, Matrix, MatrixProduct, Step, Word};

use super::atom::Atom;
use super::memory::Loc;
use super::types::ArgumentType;
use super::{Lower, Outcome};

/// Whether matrix products go to the driver's library.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Library {
    /// Where the driver has one, outside of the deterministic mode.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Always: without one, or in the deterministic mode, a run is an error.
    Always,
}

/// A whole matrix in a buffer of its own.
struct Whole {
    buffer: BufferId,
    shape: [Word; 2],
    ty: Ty,
    /// 1 for real numbers, 2 for complex ones.
    parts: usize,
    /// How many cotangents.
    width: usize,
}

impl Lower<'_> {
    /// The products that an update is made of, where all of them are ones for a library.
    pub fn library_products(&mut self, update: &Expansion) -> Outcome<Option<Vec<MatrixProduct>>> {
        if self.options.library == Library::Never {
            return Ok(None);
        }
        let Some(target) = &update.place else { return Ok(None) };
        let Some((scale, factors)) = split(&update.formula, &update.factors) else { return Ok(None) };
        let [(a, a_place), (b, b_place)] = factors;
        let c = update.formula.target;
        let Some((a, b, turned)) =
            letters(&a, &b, &c).map(|turned| if turned { (b, a, true) } else { (a, b, false) })
        else {
            return Ok(None);
        };
        let places = if turned { [b_place, a_place] } else { [a_place, b_place] };
        let (Some(ma), Some(mb), Some(mc)) =
            (self.whole(places[0])?, self.whole(places[1])?, self.whole(target)?)
        else {
            return Ok(None);
        };
        let same = ma.ty == mb.ty && mb.ty == mc.ty && ma.parts == mb.parts && mb.parts == mc.parts;
        let lead = if turned { &mb } else { &ma };
        let other = if turned { &ma } else { &mb };
        if !same || lead.width != mc.width || other.width != 1 {
            return Ok(None);
        }
        let scale = if update.op == UpdateOp::Add { scale } else { -scale };
        // rows and columns of the target, and what is summed
        let size = {
            let summed = usize::from(a.letters().first() == c.letters().first());
            [mc.shape[0].clone(), mc.shape[1].clone(), ma.shape[summed].clone()]
        };
        let matrix = |m: &Whole, transposed, part: usize, lane: usize| Matrix {
            buffer: m.buffer,
            leaf: part * m.width + if m.width > 1 { lane } else { 0 },
            transposed,
        };
        let a_turned = a.letters().first() != c.letters().first();
        let b_turned = b.letters().last() != c.letters().last();
        let parts = mc.parts;
        let mut products = Vec::new();
        for lane in 0..mc.width {
            for (pa, pb) in (0..parts).flat_map(|pa| (0..parts).map(move |pb| (pa, pb))) {
                let negative = (pa + pb == 2) ^ (pa == 1 && a.conj) ^ (pb == 1 && b.conj);
                products.push(MatrixProduct {
                    ty: mc.ty,
                    size: size.clone(),
                    factors: [matrix(&ma, a_turned, pa, lane), matrix(&mb, b_turned, pb, lane)],
                    target: matrix(&mc, false, (pa + pb) % 2, lane),
                    scale: if negative { -scale } else { scale },
                });
            }
        }
        Ok(Some(products))
    }

    /// A product by the library, or by the steps that `loops` adds.
    pub fn by_library(
        &mut self,
        products: Vec<MatrixProduct>,
        loops: impl FnOnce(&mut Self) -> Outcome<()>,
    ) -> Outcome<()> {
        let forced = self.options.library == Library::Always;
        if self.options.deterministic {
            if forced {
                return Err(self.unsupported("a product of a library in the deterministic mode"));
            }
            return loops(self);
        }
        self.steps.push(Vec::new());
        let done = loops(self);
        let otherwise = self.taken_steps()?;
        done?;
        self.step_host(Step::Products { products, otherwise, forced });
        Ok(())
    }

    fn whole(&mut self, place: &Place) -> Outcome<Option<Whole>> {
        let Some(Loc::Array(array)) = self.attempt(|l| l.locate(place))? else { return Ok(None) };
        let (real, complex, width) = match &array.kind {
            ArgumentType::Scalar(real) => (*real, false, 1),
            ArgumentType::Complex(real) => (*real, true, 1),
            ArgumentType::Shadow { real, complex, width } => (*real, *complex, *width),
            _ => return Ok(None),
        };
        let ty = match real {
            ScalarType::F32 => Ty::F32,
            ScalarType::F64 => Ty::F64,
            _ => return Ok(None),
        };
        let mem = &array.mem;
        let whole = mem.space == Space::Global
            && mem.header == 0
            && mem.interleaved.is_none()
            && array.strides.is_none()
            && array.first.integer() == Some(0)
            && place.path.is_empty();
        let words: Option<Vec<Word>> = array.shape.iter().map(Atom::word).collect();
        Ok(match (&mem.address, words.as_deref()) {
            (Atom::Buffer(buffer), Some([rows, columns])) if whole => {
                let shape = [rows.clone(), columns.clone()];
                Some(Whole { buffer: *buffer, shape, ty, parts: 1 + usize::from(complex), width })
            }
            _ => None,
        })
    }
}

/// The product of the factors that are numbers, and the two that are arrays.
fn split<'a>(formula: &Contraction, factors: &'a [Expr]) -> Option<(f64, [(Operand, &'a Place); 2])> {
    let mut scale = 1.0;
    let mut arrays = Vec::new();
    for (operand, factor) in formula.factors().iter().zip(factors) {
        match &factor.kind {
            ExprKind::Read(place) if !operand.is_scalar() => arrays.push((*operand, place)),
            ExprKind::Literal(Number::Float(v), _) => scale *= v,
            ExprKind::Literal(Number::Int(v), _) => scale *= *v as f64,
            _ => return None,
        }
    }
    Some((scale, arrays.try_into().ok()?))
}

/// Whether three operands are a matrix product, and then whether the columns are the first factor's.
fn letters(a: &Operand, b: &Operand, c: &Operand) -> Option<bool> {
    let whole = [a, b, c].iter().all(|o| o.part == Part::Whole);
    let ([i, j], [p, q], [r, s]) = (c.letters(), a.letters(), b.letters()) else { return None };
    let is = |x: &[&u8; 2], y: &u8| x.contains(&y);
    let (first, second) = ([p, q], [r, s]);
    let summed = first.iter().find(|l| is(&second, l))?;
    let distinct = i != j && p != q && r != s && *summed != i && *summed != j;
    match (is(&first, i) && is(&second, j), is(&first, j) && is(&second, i)) {
        (true, false) if whole && distinct => Some(false),
        (false, true) if whole && distinct => Some(true),
        _ => None,
    }
}
