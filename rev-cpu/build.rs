//! Says whether this crate is optimised: only then is its inlining forced. Without, each small function inlined at each of its calls
//! is what a program costs to compile.

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimized)");
    if std::env::var("OPT_LEVEL").is_ok_and(|level| !matches!(level.as_str(), "0" | "1")) {
        println!("cargo::rustc-cfg=optimized");
    }
}
