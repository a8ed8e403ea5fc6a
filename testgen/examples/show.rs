//! Prints the program of a seed: `cargo run -p rev-testgen --example show -- 17 [small] [rust]`.

use rev_testgen::{Program, Size};

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |word: &str| args.iter().any(|a| a == word);
    let seed = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let size = if has("small") { Size::Small } else { Size::Full };
    let program = Program::sized(seed, &format!("program_{seed}"), size);
    if has("rust") {
        println!("{}", program.rust());
    } else {
        program.functions.iter().for_each(|f| println!("{f}"));
    }
}
