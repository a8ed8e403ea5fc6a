//! Who may be written: not arguments that are only read, bindings, or the variables of loops; and
//! accumulators in one way only.

use crate::diag::{Code, Diagnostic, Diagnostics};
use crate::ir::{Access, Mode, Place, Span, Stmt, VarKind};

use super::context::{at, Context};

pub(super) fn check(cx: &Context, out: &mut Diagnostics) {
    cx.each_stmt(&mut |stmt| {
        stmt.each_access(&mut |place, access| out.0.extend(touched(cx, stmt, place, access)));
    })
}

fn touched(cx: &Context, stmt: &Stmt, place: &Place, access: Access) -> Option<Diagnostic> {
    let var = cx.function.var(place.var);
    let written = access != Access::Read;
    let (code, message, help) = match (var.kind, access) {
        (VarKind::Param(Mode::Read), _) if written => read_only(&var.name),
        (VarKind::Binding, _) if written => match cx.constant(place.var) {
            Some(path) => constant(path),
            None => binding(&var.name),
        },
        (VarKind::Index, _) if written => index(&var.name),
        (VarKind::Param(Mode::Accumulate), Access::Read) => accumulator(&var.name, "read"),
        (VarKind::Param(Mode::Accumulate), Access::Write) => accumulator(&var.name, "changed otherwise"),
        _ => return None,
    };
    let d = Diagnostic::new(code, at(place, stmt), message).help(help);
    Some(declared(d, var.span))
}

fn declared(d: Diagnostic, span: Span) -> Diagnostic {
    if span.is_some() {
        d.label(span, "declared here")
    } else {
        d
    }
}

fn read_only(name: &str) -> (Code, String, String) {
    let message = format!("`{name}` is written, but the function only borrows it for reading");
    (Code::WriteReadOnly, message, format!("declare the parameter `{name}: &mut ...`"))
}

fn binding(name: &str) -> (Code, String, String) {
    let message = format!("`{name}` is written, but it is a name for a value");
    (Code::WriteBinding, message, format!("declare an ancilla: `let mut {name} = ...;`"))
}

fn constant(path: &str) -> (Code, String, String) {
    let message = format!("`{path}` is written, but it is a constant");
    (Code::WriteBinding, message, "accumulate into an argument or an ancilla".to_string())
}

fn index(name: &str) -> (Code, String, String) {
    let message = format!("`{name}` is written, but it is the variable of a loop");
    (Code::WriteIndex, message, format!("count in an ancilla, or bind another value: `let k = {name} + 1;`"))
}

fn accumulator(name: &str, how: &str) -> (Code, String, String) {
    let message = format!("`{name}` may only be accumulated into with `+=` and `-=`, but is {how}");
    (Code::ReadAccumulator, message, "use an ancilla, and add it at the end".to_string())
}
