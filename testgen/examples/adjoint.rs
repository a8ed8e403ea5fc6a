//! Prints the adjoint of the adjoint of a function in the text form read from standard input.

use rev_core::check::check;
use rev_core::pass::{adjoint, Adjoint};
use std::io::Read;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text)?;
    let f = check(rev_core::text::parse_function(&text)?).map_err(|d| d.render("stdin", &text))?;
    let once = adjoint(&f, Adjoint::REVERSIBLE);
    println!("{}\n{}", *once, *adjoint(&once, Adjoint::REVERSIBLE));
    Ok(())
}
