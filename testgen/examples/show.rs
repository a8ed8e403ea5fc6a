//! Prints the program of a seed: `cargo run -p rev-testgen --example show -- 17 [rust]`.

fn main() {
    let args: Vec<String> = std::env::args().collect();
    let seed = args.get(1).and_then(|s| s.parse().ok()).unwrap_or(0);
    let program = rev_testgen::Program::generate(seed, &format!("program_{seed}"));
    if args.iter().any(|a| a == "rust") {
        println!("{}", program.rust());
    } else {
        program.functions.iter().for_each(|f| println!("{f}"));
    }
}
