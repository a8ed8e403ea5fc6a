//! What is run with checks and what without: one program where possible, with checks that cost next to nothing where
//! they aren't made, else two.

use super::{erase, erase_unproven, plain, Erased, Wanted};
use crate::check::overlap::{compared, Values};
use crate::check::Checked;
use crate::ir::{Block, Function, Release, StmtKind};

/// What is left of a program to be run.
#[derive(Clone, Debug, PartialEq)]
pub enum Forms {
    /// With checks and without, the same statements.
    One(Erased),
    /// Checks need statements that nothing else does, or are made so often that a program without them is worth having.
    Two {
        /// Where checks are on.
        checked: Erased,
        /// Where they are off.
        unchecked: Box<Erased>,
    },
}

impl Forms {
    /// Of a function, of whose written arguments these are wanted.
    pub fn of(function: &Checked, wanted: Wanted) -> Forms {
        let unchecked = erase(function, wanted);
        if !function.checks {
            return Forms::One(unchecked);
        }
        let checked = erase_unproven(function, wanted);
        let same = plain::plain(&checked) == *unchecked && checked.forgetful == unchecked.forgetful;
        match same && !compares(&checked.body, &Values::of(&checked)) {
            true => Forms::One(checked),
            false => Forms::Two { checked, unchecked: Box::new(unchecked) },
        }
    }

    /// These programs and those for which only their shadows are wanted in one, where they differ in nothing but what their calls
    /// restore.
    pub fn with_shadows(&self, shadows: &Forms) -> Option<Forms> {
        match (self, shadows) {
            (Forms::One(all), Forms::One(shadows)) => all.with_shadows(shadows).map(Forms::One),
            (Forms::Two { checked, unchecked }, Forms::Two { checked: shadows, unchecked: plain }) => {
                let unchecked = Box::new(unchecked.with_shadows(plain)?);
                Some(Forms::Two { checked: checked.with_shadows(shadows)?, unchecked })
            }
            (Forms::One(_), Forms::Two { .. }) | (Forms::Two { .. }, Forms::One(_)) => None,
        }
    }

    /// With repeated functions of values that don't change computed once.
    pub fn shared(self) -> Forms {
        self.each(Erased::shared)
    }

    /// With the fields lent that parallel loops use.
    pub(crate) fn lent(self) -> Forms {
        self.each(Erased::lent)
    }

    fn each(self, f: impl Fn(Erased) -> Erased) -> Forms {
        match self {
            Forms::One(one) => Forms::One(f(one)),
            Forms::Two { checked, unchecked } => {
                Forms::Two { checked: f(checked), unchecked: Box::new(f(*unchecked)) }
            }
        }
    }

    /// What runs where checks are on.
    pub fn checked(&self) -> &Erased {
        match self {
            Forms::One(one) => one,
            Forms::Two { checked, .. } => checked,
        }
    }

    /// What runs where checks are off.
    pub fn unchecked(&self) -> &Erased {
        match self {
            Forms::One(one) => one,
            Forms::Two { unchecked, .. } => unchecked,
        }
    }

    /// Whether checks ask anything, the calls aside.
    pub fn asks(&self) -> bool {
        match self {
            Forms::One(one) => one.checks && asks(one, &one.body),
            Forms::Two { .. } => true,
        }
    }
}

/// Whether checks compare indices at statements, or what ancillas hold, which is watched all the time.
fn compares(block: &Block, values: &Values) -> bool {
    block.iter().any(|stmt| {
        let own = match &stmt.kind {
            StmtKind::Ancilla { release, .. } => *release == Release::Checked,
            StmtKind::Release { .. } => true,
            StmtKind::Unchecked { .. } => return false,
            StmtKind::Update { .. } | StmtKind::Instr { .. } => !compared(stmt, values).is_empty(),
            StmtKind::Let { .. }
            | StmtKind::If { .. }
            | StmtKind::While { .. }
            | StmtKind::For { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::Pop { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => false,
        };
        own || stmt.blocks().into_iter().any(|b| compares(b, values))
    })
}

/// Whether statements claim anything that isn't proven: that places differ, that ancillas are brought back, postconditions,
/// that what is popped onto holds nothing, which iterations touch what.
pub fn claims(block: &Block, values: &Values) -> bool {
    compares(block, values) || claims_more(block)
}

fn claims_more(block: &Block) -> bool {
    block.iter().any(|stmt| {
        let own = match &stmt.kind {
            StmtKind::If { post, .. } => post.is_some(),
            StmtKind::For { parallel, .. } => {
                parallel.as_ref().is_some_and(|p| !p.injective.is_empty() || !p.disjoint.is_empty())
            }
            StmtKind::Unchecked { .. } => return false,
            StmtKind::While { .. } | StmtKind::Pop { .. } => true,
            StmtKind::Ancilla { .. }
            | StmtKind::Release { .. }
            | StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => false,
        };
        own || stmt.blocks().into_iter().any(claims_more)
    })
}

/// Whether anything is asked of values, the calls' arguments aside.
fn asks(function: &Function, block: &Block) -> bool {
    block.iter().any(|stmt| {
        let own = match &stmt.kind {
            StmtKind::Ancilla { var, release, .. } => {
                *release != Release::Dropped && !function.var(*var).ty.is_exact(&function.generics)
            }
            StmtKind::If { post, .. } => post.is_some(),
            StmtKind::For { parallel, .. } => parallel.is_some(),
            StmtKind::Unchecked { .. } => return false,
            StmtKind::Release { .. } | StmtKind::While { .. } | StmtKind::Pop { .. } => true,
            StmtKind::Update { .. }
            | StmtKind::Instr { .. }
            | StmtKind::Let { .. }
            | StmtKind::Call { .. }
            | StmtKind::Compute { .. }
            | StmtKind::Push { .. }
            | StmtKind::External { .. }
            | StmtKind::Inverse { .. } => false,
        };
        own || stmt.blocks().into_iter().any(|b| asks(function, b))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::pass::{adjoint, fuse_proven, inverse, Adjoint};
    use crate::text::parse_function;

    fn checked(text: &str) -> Checked {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        check(f).unwrap_or_else(|d| panic!("{}", d.render("test", text)))
    }

    fn forms(text: &str) -> Forms {
        Forms::of(&checked(text), Wanted::All)
    }

    const MANAGED: &str = "fn f(y: &mut f64, x: [f64]) {
        managed anc s: f64 = 0.0 { for i in 0..len(x) { s += x[i] * x[i] }; y += s * s }
    }";

    #[test]
    fn what_the_compiler_uncomputes_is_one_program_for_both() {
        let function = checked(MANAGED);
        let lean = adjoint(&function, Adjoint::LEAN);
        for (program, wanted) in [
            (&function, Wanted::All),
            (&inverse(&function), Wanted::All),
            (&lean, Wanted::All),
            (&lean, Wanted::Shadows),
        ] {
            let Forms::One(one) = Forms::of(program, wanted) else { panic!("{}", **program) };
            assert!(one.to_string().contains("uncomputed anc s"), "{}", *one);
            assert!(Forms::One(one).asks());
        }
        let Forms::One(forward) = Forms::of(&function, Wanted::All) else { panic!() };
        assert!(!forward.to_string().contains("-="), "{}", *forward);
        assert!(fuse_proven(&function).is_some());
    }

    #[test]
    fn exact_ancillas_are_asked_nothing() {
        let one = forms("fn f(y: &mut i64, n: i64) { managed anc k: i64 = 0 { k += n; y += k * k } }");
        assert!(!one.asks(), "{one:?}");
    }

    #[test]
    fn what_the_program_brings_back_itself_is_kept_and_compared() {
        let text = "fn f(y: &mut f64, x: f64) { anc a: f64 = 0.0 { a += x; y += x; a -= x } }";
        let Forms::Two { checked, unchecked } = forms(text) else { panic!() };
        assert!(
            checked.to_string().contains("a -= x") && !unchecked.to_string().contains("anc"),
            "{}",
            *checked
        );
        let text = "fn f(y: &mut f64, x: f64) { anc a: f64 = 0.0 { a += x; y += a; release a = x } }";
        let Forms::Two { checked, .. } = forms(text) else { panic!() };
        assert!(checked.to_string().contains("release a"), "{}", *checked);
        // where nothing is checked, nothing is kept
        let text = "fn f(y: &mut f64, x: f64) { unchecked { anc a: f64 = 0.0 { a += x; y += x; a -= x } } }";
        assert!(matches!(forms(text), Forms::One(one) if !one.to_string().contains("a +=")));
    }

    /// A postcondition reads what its branch has changed.
    #[test]
    fn what_a_postcondition_reads_is_kept() {
        let text = "fn f(y: &mut f64, k: &mut i64, x: f64) {
            managed anc n: i64 = 0 { if x > 0.0 { n += 1; y += x } else { y -= x } post n > 0 }
        }";
        let found = forms(text);
        let Forms::Two { checked, unchecked } = &found else { panic!("{found:?}") };
        assert!(
            checked.to_string().contains("n += 1") && !unchecked.to_string().contains("n += 1"),
            "{found:?}"
        );
        assert!(claims(&checked.body, &Values::of(checked)));
    }

    #[test]
    fn elements_that_may_be_one_are_compared() {
        let text = "fn f(x: &mut [f64], i: usize, j: usize) { x[i] += x[j] }";
        assert!(matches!(forms(text), Forms::Two { .. }));
        let text = "fn f(x: &mut [f64], i: usize) { x[i] += x[i + 1] }";
        assert!(matches!(forms(text), Forms::One(_)));
    }
}
