//! Prints the page of diagnostics: `cargo run -p rev-compiler --example diagnostics > docs/diagnostics.md`.

fn main() {
    print!("{}", rev_compiler::diag::page());
}
