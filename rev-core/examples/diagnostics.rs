//! Prints the page of diagnostics: `cargo run -p rev-core --example diagnostics > docs/diagnostics.md`.

fn main() {
    print!("{}", rev_core::diag::page());
}
