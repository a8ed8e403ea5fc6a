//! Says whether this crate is optimised: only then is its inlining forced. Without, each small function inlined at each of its calls
//! is what a program costs to compile. And for which of x86-64's instruction sets parallel loops are compiled: for AVX-512 where it is
//! optimised, and for AVX2 but where the target has AVX-512 for sure (`-C target-cpu=native` on such a processor).

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    println!("cargo::rustc-check-cfg=cfg(optimized, avx512, avx2)");
    let said = |name: &str| std::env::var(name).unwrap_or_default();
    let (level, features) = (said("OPT_LEVEL"), said("CARGO_CFG_TARGET_FEATURE"));
    let has = |feature: &str| features.split(',').any(|own| own == feature);
    let is_x86 = said("CARGO_CFG_TARGET_ARCH") == "x86_64";
    let optimized = !matches!(level.as_str(), "" | "0" | "1");
    let avx512 = is_x86 && optimized;
    let surely = ["avx512f", "avx512bw", "avx512dq", "avx512vl", "fma"].into_iter().all(has);
    for (name, holds) in
        [("optimized", optimized), ("avx512", avx512), ("avx2", is_x86 && !(avx512 && surely))]
    {
        if holds {
            println!("cargo::rustc-cfg={name}");
        }
    }
}
