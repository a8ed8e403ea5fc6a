//! Prints the program of a seed: `cargo run -p rev-testgen --example show -- 17 [small] [rust]`, `.. 17 form` of source forms.

use rev_testgen::forms::Form;
use rev_testgen::Program;

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let has = |word: &str| args.iter().any(|a| a == word);
    let seed = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let name = format!("program_{seed}");
    let program = if has("small") { Program::compiled(seed, &name) } else { Program::generate(seed, &name) };
    if has("form") {
        println!("{}", Form::generate(seed).source());
    } else if has("rust") {
        println!("{}", program.rust());
    } else {
        program.functions.iter().for_each(|f| println!("{f}"));
    }
}
