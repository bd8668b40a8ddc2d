//! How deep is control flow nested inside a function?
//!
//! Each `if`, `match`, `for`, `while` and `loop` is a level; an `else if` carries on the level of
//! its `if`. Closures and async blocks add none of their own but keep the level they stand at; a
//! nested function starts again from nothing.

use super::findings::Findings;
use super::source::Source;
use syn::spanned::Spanned;
use syn::visit::{self, Visit};

const LEVELS: usize = 4;

pub(crate) fn check(source: &Source<'_>, findings: &mut Findings) {
    let mut nesting = Nesting { path: source.path, level: 0, findings };
    nesting.visit_file(&source.syntax);
}

struct Nesting<'f> {
    path: &'f str,
    level: usize,
    findings: &'f mut Findings,
}

impl Nesting<'_> {
    fn deeper(&mut self, line: usize, inside: impl FnOnce(&mut Self)) {
        self.level += 1;
        if self.level == LEVELS + 1 {
            let advice =
                format!("more than {LEVELS} levels deep: return early or split the function");
            self.findings.add(self.path, line, "nesting", advice);
        }
        inside(self);
        self.level -= 1;
    }

    fn afresh(&mut self, inside: impl FnOnce(&mut Self)) {
        let level = std::mem::take(&mut self.level);
        inside(self);
        self.level = level;
    }
}

fn line(of: &impl Spanned) -> usize {
    of.span().start().line
}

impl<'a> Visit<'a> for Nesting<'_> {
    fn visit_item_fn(&mut self, item: &'a syn::ItemFn) {
        self.afresh(|this| visit::visit_item_fn(this, item));
    }

    fn visit_impl_item_fn(&mut self, item: &'a syn::ImplItemFn) {
        self.afresh(|this| visit::visit_impl_item_fn(this, item));
    }

    fn visit_trait_item_fn(&mut self, item: &'a syn::TraitItemFn) {
        self.afresh(|this| visit::visit_trait_item_fn(this, item));
    }

    fn visit_expr_if(&mut self, expr: &'a syn::ExprIf) {
        self.visit_expr(&expr.cond);
        self.deeper(line(expr), |this| this.visit_block(&expr.then_branch));
        match &expr.else_branch {
            Some((_, branch)) if matches!(**branch, syn::Expr::If(_)) => self.visit_expr(branch),
            // The level was reported at the `if` already.
            Some((_, branch)) => {
                self.level += 1;
                self.visit_expr(branch);
                self.level -= 1;
            }
            None => {}
        }
    }

    fn visit_expr_match(&mut self, expr: &'a syn::ExprMatch) {
        self.visit_expr(&expr.expr);
        self.deeper(line(expr), |this| expr.arms.iter().for_each(|arm| this.visit_arm(arm)));
    }

    fn visit_expr_for_loop(&mut self, expr: &'a syn::ExprForLoop) {
        self.visit_expr(&expr.expr);
        self.deeper(line(expr), |this| this.visit_block(&expr.body));
    }

    fn visit_expr_while(&mut self, expr: &'a syn::ExprWhile) {
        self.visit_expr(&expr.cond);
        self.deeper(line(expr), |this| this.visit_block(&expr.body));
    }

    fn visit_expr_loop(&mut self, expr: &'a syn::ExprLoop) {
        self.deeper(line(expr), |this| this.visit_block(&expr.body));
    }
}
