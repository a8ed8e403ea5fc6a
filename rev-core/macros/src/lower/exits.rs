//! What would leave an external block: `return`, `break` and `continue` to a loop around it, `?`.
//!
//! The reversible function would end, or its loop go on, in the middle, and the inverse would undo what
//! never happened. What stands in a loop, a closure or a function of the block's own stays inside. Tokens of
//! macros aren't looked into: the emitted block is a closure, which is all that they can leave.

use quote::ToTokens;
use rev_compiler::diag::Code;
use syn::visit::{self, Visit};

use super::Lowerer;

impl Lowerer {
    /// Reports everything that leaves an external block.
    pub(super) fn exits(&mut self, block: &syn::Block) {
        Exits { lowerer: self, loops: 0, labels: Vec::new() }.visit_block(block);
    }
}

struct Exits<'a> {
    lowerer: &'a mut Lowerer,
    /// The loops around the expression that is visited, inside the block.
    loops: usize,
    /// The labels of these loops and of blocks.
    labels: Vec<syn::Ident>,
}

impl Exits<'_> {
    fn report(&mut self, code: Code, at: &impl ToTokens, what: &str, help: &str) {
        let message = format!("{what} would leave the external block, and the reversible function with it");
        let _: Option<()> = self.lowerer.error_help(code, at, message, help);
    }

    fn jump(&mut self, keyword: &impl ToTokens, what: &str, label: Option<&syn::Lifetime>) {
        let stays = match label {
            Some(label) => self.labels.contains(&label.ident),
            None => self.loops > 0,
        };
        if !stays {
            let help = "leave loops inside the block only; choose by `if` what else runs";
            self.report(Code::Break, keyword, what, help);
        }
    }

    /// What is inside a loop or block of the block's own.
    fn inside(&mut self, label: Option<&syn::Label>, is_loop: bool, visit: impl FnOnce(&mut Self)) {
        let (loops, labels) = (self.loops, self.labels.len());
        self.loops += usize::from(is_loop);
        self.labels.extend(label.map(|label| label.name.ident.clone()));
        visit(self);
        self.loops = loops;
        self.labels.truncate(labels);
    }
}

impl<'ast> Visit<'ast> for Exits<'_> {
    fn visit_expr_return(&mut self, e: &'ast syn::ExprReturn) {
        let help =
            "put the rest of the block into an `if`, or the block's code into a function that is called here";
        self.report(Code::Return, &e.return_token, "`return`", help);
        visit::visit_expr_return(self, e);
    }

    fn visit_expr_try(&mut self, e: &'ast syn::ExprTry) {
        let help = "handle the error inside the block: `if let Err(e) = ... { ... }`";
        self.report(Code::QuestionMark, &e.question_token, "`?`", help);
        visit::visit_expr_try(self, e);
    }

    fn visit_expr_break(&mut self, e: &'ast syn::ExprBreak) {
        self.jump(&e.break_token, "`break`", e.label.as_ref());
        visit::visit_expr_break(self, e);
    }

    fn visit_expr_continue(&mut self, e: &'ast syn::ExprContinue) {
        self.jump(&e.continue_token, "`continue`", e.label.as_ref());
    }

    fn visit_expr_for_loop(&mut self, e: &'ast syn::ExprForLoop) {
        self.visit_expr(&e.expr);
        self.inside(e.label.as_ref(), true, |exits| exits.visit_block(&e.body));
    }

    fn visit_expr_while(&mut self, e: &'ast syn::ExprWhile) {
        self.inside(e.label.as_ref(), true, |exits| {
            exits.visit_expr(&e.cond);
            exits.visit_block(&e.body);
        });
    }

    fn visit_expr_loop(&mut self, e: &'ast syn::ExprLoop) {
        self.inside(e.label.as_ref(), true, |exits| exits.visit_block(&e.body));
    }

    fn visit_expr_block(&mut self, e: &'ast syn::ExprBlock) {
        self.inside(e.label.as_ref(), false, |exits| exits.visit_block(&e.block));
    }

    // what these leave is themselves
    fn visit_expr_closure(&mut self, _: &'ast syn::ExprClosure) {}
    fn visit_expr_async(&mut self, _: &'ast syn::ExprAsync) {}
    fn visit_item(&mut self, _: &'ast syn::Item) {}
}
