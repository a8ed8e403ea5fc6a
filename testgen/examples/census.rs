//! Prints how often each form of the language occurs: `cargo run --release -p rev-testgen --example census -- 1000 [small]`.

use rev_testgen::census::Census;
use rev_testgen::{Program, Size};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let count = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(1000);
    let size = if args.iter().any(|a| a == "small") { Size::Small } else { Size::Full };
    let mut census = Census::expected();
    (0..count).for_each(|seed| census.add(&Program::sized(seed, "f", size)));
    print!("{census}");
}
