//! Erasing: what nobody reads isn't computed.
//!
//! A reversible program brings its ancillas back to where they started. On a machine that may
//! forget, that is work for nobody: the statements whose results reach no argument
//! are dead code. So are, in an adjoint, the values that no partial derivative needs.
//!
//! The pass marks what is needed, from the arguments backwards ([`live`]), and leaves out the rest:
//! statements, whole loops and branches, bindings and ancillas. What it gives is a program to be
//! run, not one to be inverted, so it is an [`Erased`] and no [`Checked`].
//!
//! A run with checks needs no more than that. That an ancilla which the compiler uncomputes holds its first value again
//! follows from how it is made; what a program only claims is kept, and with it what the claim is about:
//! postconditions, and ancillas that the program brings back itself ([`Forms`]).
//!
//! What is left out can't fail either: an index out of range in a statement whose
//! result nobody reads goes unnoticed.

mod forms;
mod live;
mod module;
mod plain;

use std::collections::BTreeSet;
use std::ops::Deref;

use crate::check::Checked;
use crate::diag::defect;
use crate::ir::{Block, Callee, Derived, Direction, Function, Span, Stmt, StmtKind, Type, VarId, VarKind};
use crate::validate::{verified, Form};
use live::{live, Need};

pub use forms::{claims, Forms};
pub(super) use plain::written_out;

/// Which of a program's written arguments somebody reads after it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Wanted {
    /// All of them.
    All,
    /// The shadows: after a gradient nobody asks for the state before the function.
    Shadows,
}

/// A program without its dead code. It can be run forward, and nothing else.
#[derive(Clone, Debug, PartialEq)]
pub struct Erased {
    pub(super) function: Function,
    forgetful: BTreeSet<Span>,
    /// Calls that are forgetful where only the shadows of this program are wanted.
    following: BTreeSet<Span>,
}

/// Whether a call of an adjoint restores the state.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Restores {
    /// It does.
    Always,
    /// Where the program that it stands in does.
    AsCaller,
    /// Nobody reads that.
    Never,
}

impl Erased {
    /// A program as it is, for backends that run both kinds.
    pub fn whole(function: Function) -> Erased {
        Erased { function, forgetful: BTreeSet::new(), following: BTreeSet::new() }
    }

    /// A program of whose calls of adjoints these restore nothing that is read.
    pub(super) fn forgetting(function: Function, mut forgetful: BTreeSet<Span>) -> Erased {
        forgetful.retain(|s| s.is_some());
        Erased { forgetful, ..Erased::whole(function) }
    }

    /// Whether nobody reads the state that the calls of adjoints at a place in the source restore, so
    /// that the callee's [`Wanted::Shadows`] will do.
    pub fn forgets(&self, call: Span) -> bool {
        self.forgetful.contains(&call)
    }

    /// The same of a program that is also run where only its shadows are wanted ([`Forms::with_shadows`]).
    pub fn restores(&self, call: Span) -> Restores {
        match (self.forgetful.contains(&call), self.following.contains(&call)) {
            (true, _) => Restores::Never,
            (false, true) => Restores::AsCaller,
            (false, false) => Restores::Always,
        }
    }

    /// This program and the one for which only its shadows are wanted in one, where they have the same statements.
    fn with_shadows(&self, shadows: &Erased) -> Option<Erased> {
        let both = self.function == shadows.function && self.forgetful.is_subset(&shadows.forgetful);
        let following = || shadows.forgetful.difference(&self.forgetful).copied().collect();
        both.then(|| Erased { following: following(), ..self.clone() })
    }

    /// The function, for a module that is to be run without checks.
    pub fn into_inner(self) -> Function {
        self.function
    }
}

impl Deref for Erased {
    type Target = Function;
    fn deref(&self) -> &Function {
        &self.function
    }
}

/// The function without the statements that the wanted arguments don't depend on.
pub fn erase(function: &Checked, wanted: Wanted) -> Erased {
    erase_program(function, wanted)
}

/// The same for a program of a direction ([`directed`](super::directed)).
pub fn erase_program(program: &Function, wanted: Wanted) -> Erased {
    program.grown(|| run_forward(erased(program, wanted, false)))
}

/// The same with what has to be checked, and what that is about.
pub fn erase_unproven(program: &Function, wanted: Wanted) -> Erased {
    program.grown(|| run_forward(kept(plain::checked(program), wanted, false)))
}

fn run_forward((function, keep): (Function, Keep)) -> Erased {
    let Keep { mut forgetful, restoring, .. } = keep;
    forgetful.retain(|s| s.is_some() && !restoring.contains(s));
    Erased { function: verified(function, Form::Forward, "erasing"), forgetful, following: BTreeSet::new() }
}

/// The same, where adjoints of which nobody reads the state that they restore become calls of [`Derived::Shadows`].
pub(super) fn erase_marking(program: &Function, wanted: Wanted) -> Function {
    erased(program, wanted, true).0
}

/// The same, with the ancillas of a program written out that the compiler uncomputes.
pub(super) fn erase_watched(program: &Function, wanted: Wanted) -> Function {
    kept(plain::watched(program), wanted, true).0
}

fn erased(program: &Function, wanted: Wanted, marks: bool) -> (Function, Keep) {
    kept(plain::plain(program), wanted, marks)
}

fn kept(mut function: Function, wanted: Wanted, marks: bool) -> (Function, Keep) {
    let roots: Vec<VarId> =
        function.params.iter().copied().filter(|p| is_wanted(&function, *p, wanted)).collect();
    let needs = live(&function, &roots).into_iter();
    let (forgetful, restoring) = (BTreeSet::new(), BTreeSet::new());
    let mut keep = Keep { needs, astray: false, forgetful, restoring, marks };
    function.body = keep.block(std::mem::take(&mut function.body));
    if keep.astray || keep.needs.len() > 0 {
        function
            .defects
            .push(defect(function.span, "what a program needs was found for other statements than it has"));
    }
    (function, keep)
}

fn is_wanted(function: &Function, param: VarId, wanted: Wanted) -> bool {
    match wanted {
        Wanted::All => matches!(function.var(param).kind, VarKind::Param(_)),
        Wanted::Shadows => matches!(function.var(param).ty, Type::Shadow(_)),
    }
}

/// Leaves out what isn't marked. Statements are numbered as [`live`] numbers them: each before the
/// ones inside it.
struct Keep {
    needs: std::vec::IntoIter<Need>,
    /// Whether a statement had no number.
    astray: bool,
    /// Where the calls are whose restored state nobody reads, and the statements that are not so.
    forgetful: BTreeSet<Span>,
    restoring: BTreeSet<Span>,
    /// Whether the former become calls of [`Derived::Shadows`].
    marks: bool,
}

impl Keep {
    fn block(&mut self, block: Block) -> Block {
        block.into_iter().flat_map(|s| self.stmt(s)).collect()
    }

    fn stmt(&mut self, mut stmt: Stmt) -> Block {
        let need = self.needs.next().unwrap_or_else(|| {
            self.astray = true;
            Need::Live
        });
        for block in stmt.blocks_mut() {
            *block = self.block(std::mem::take(block));
        }
        let span = stmt.span;
        match (need, stmt.into_kind()) {
            // the scope of a name that nothing in it mentions
            (Need::Dead, StmtKind::Let { body, .. } | StmtKind::Ancilla { body, .. }) => body,
            (Need::Dead, _) => Vec::new(),
            // only the adjoint of a function itself has such a program
            (Need::Shadows, StmtKind::Call { callee: Callee::Path(path), direction, args })
                if self.marks && direction == Direction::ADJOINT =>
            {
                let callee = Callee::Path(path.with(Derived::Shadows));
                let kind = StmtKind::Call { callee, direction: Direction::FORWARD, args };
                vec![Stmt { kind, span }]
            }
            (need, kind) => {
                let spans = if need == Need::Shadows { &mut self.forgetful } else { &mut self.restoring };
                if matches!(kind, StmtKind::Call { .. }) {
                    spans.insert(span);
                }
                vec![Stmt { kind, span }]
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::check::check;
    use crate::pass::{adjoint, Adjoint};
    use crate::text::parse_function;

    fn erased(text: &str) -> String {
        erase(&checked(text), Wanted::All).to_string()
    }

    fn checked(text: &str) -> Checked {
        let f = parse_function(&text.replace("; ", "\n")).unwrap();
        check(f).unwrap_or_else(|d| panic!("{}", d.render("test", text)))
    }

    fn statements(f: &Function) -> usize {
        fn count(block: &Block) -> usize {
            block.iter().map(|s| 1 + s.blocks().into_iter().map(count).sum::<usize>()).sum()
        }
        count(&f.body)
    }

    #[test]
    fn uncomputation_of_scalars_and_arrays_goes() {
        let text = erased(
            "fn f(y: &mut f64, x: [f64], n: usize) {
                managed anc a: [f64] = fill(0.0, n) {
                    managed anc s: f64 = 0.0 {
                        for i in 0..n { a[i] += x[i] * x[i] }
                        for i in 0..n { s += a[i] }
                        y += s * s
                    }
                }
            }",
        );
        assert_eq!(text.matches("for ").count(), 2, "{text}");
        assert!(!text.contains("-="), "{text}");
    }

    #[test]
    fn a_value_that_a_later_iteration_reads_stays() {
        let text = erased(
            "fn f(y: &mut [f64], x: [f64]) {
                managed anc a: f64 = 0.0 { for i in 0..len(x) { a += x[i]; y[i] += a } }
            }",
        );
        assert!(text.contains("a += x[i]") && !text.contains("-="), "{text}");
    }

    #[test]
    fn what_reaches_an_argument_stays() {
        let text = "fn f(a: &mut f64, b: &mut f64, x: f64) { a += x; swap(a, b); a -= b; b += x }";
        assert_eq!(statements(&erase(&checked(text), Wanted::All)), 4);
    }

    #[test]
    fn an_adjoint_keeps_the_values_that_derivatives_need() {
        let source = "fn f(y: &mut f64, x: f64, z: f64) {
            managed anc a: f64 = 0.0 { managed anc b: f64 = 0.0 { a += x * z; b += a * a; y += a + b } }
        }";
        let adjoint = adjoint(&checked(source), Adjoint::LEAN);
        let text = erase(&adjoint, Wanted::Shadows).to_string();
        assert!(text.contains("a += x * z") && !text.contains("a -= x * z"), "{text}");
        // the value of b is needed for y only
        assert!(!text.contains("b += a * a") && !text.contains("y -="), "{text}");
        assert!(erase(&adjoint, Wanted::All).to_string().contains("b += a * a"));
    }

    #[test]
    fn rows_of_an_array_are_told_apart() {
        let source = "fn f(y: &mut f64, x: [f64], n: usize) {
            managed anc a: [f64] = fill(0.0, n) {
                for i in 0..n { a[i] += x[i]; a[i] += x[i] * x[i]; y += a[i] * a[i] }
            }
        }";
        let text = erase(&adjoint(&checked(source), Adjoint::LEAN), Wanted::Shadows).to_string();
        assert!(!text.contains("a[i] -="), "{text}");
    }

    #[test]
    fn shadows_that_no_iteration_changes_give_nothing() {
        let source = "fn f(y: &mut f64, x: [f64], w: [f64], n: usize) {
            managed anc z: [f64] = fill(0.0, n) {
                managed anc t: f64 = 0.0 {
                    for i in 0..n { let v: f64 = x[i] * x[i] { for j in 0..n { z[j] += w[j] * v } } }
                    for j in 0..n { t += z[j] * z[j] }
                    y += t * t
                }
            }
        }";
        let text = erase(&adjoint(&checked(source), Adjoint::LEAN), Wanted::Shadows).to_string();
        assert_eq!(text.matches("w_bar[j] +=").count() + text.matches("w_bar[j] -=").count(), 1, "{text}");
    }

    #[test]
    fn a_dead_loop_whose_condition_it_changes_goes() {
        let text = erased(
            "fn f(y: &mut f64, x: f64) {
                managed anc k: i64 = 0 { while k < 3 post k > 0 { inc(k) }; y += x }
            }",
        );
        assert!(!text.contains("while") && !text.contains("anc"), "{text}");
    }

    #[test]
    fn external_code_stays_with_what_it_names() {
        let text = erased(
            "fn f(y: &mut f64, x: f64) { managed anc a: f64 = 0.0 { a += x; external \"print(a)\"; y += x } }",
        );
        assert!(text.contains("a += x") && text.contains("print(a)") && !text.contains("a -= x"), "{text}");
    }

    #[test]
    fn stacks_keep_what_is_popped() {
        let source = "fn f(y: &mut f64, x: f64, s: &mut stack f64) {
            anc a: f64 = 0.0 { a += x; push(s, a); y += x; pop(s, a); y += a; a -= x }
        }";
        let source = source.replace("stack f64", "Stack<f64>");
        let text = erased(&source);
        assert!(text.contains("push") && text.contains("pop") && !text.contains("a -= x"), "{text}");
    }
}
