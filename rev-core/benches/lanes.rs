//! The elementary functions in lanes, on each instruction set that the processor has, beside std's
//! scalar functions and rev's own: nanoseconds per element of an array in the first cache.

#[cfg(target_arch = "x86_64")]
use criterion::Throughput;
use criterion::{criterion_group, criterion_main, Criterion};

#[cfg(target_arch = "x86_64")]
mod x86 {
    use rev_core::lanes::{self, Avx2, Avx512, Pack, Vector, WIDTH};

    /// One function over an array, in the given instruction set.
    macro_rules! over_arrays {
        ($($name:ident)*) => {$(
            pub mod $name {
                use super::*;
                over_arrays!(@ $name avx512 Avx512 "avx512f,avx512bw,avx512dq,avx512vl,fma" f64);
                over_arrays!(@ $name avx2 Avx2 "avx2,fma" f64);
                over_arrays!(@ $name avx512_single Avx512 "avx512f,avx512bw,avx512dq,avx512vl,fma" f32);
            }
        )*};
        (@ $name:ident $isa_name:ident $isa:ident $features:literal $t:ty) => {
            #[target_feature(enable = $features)]
            pub fn $isa_name(s: $isa, x: &[$t], y: &mut [$t]) {
                for (x, y) in x.chunks_exact(WIDTH).zip(y.chunks_exact_mut(WIDTH)) {
                    let mut v = Vector([0.0; WIDTH]);
                    v.0.copy_from_slice(x);
                    y.copy_from_slice(&lanes::$name::<_, $t>(s, Pack(v)).0 .0);
                }
            }
        };
    }
    over_arrays!(exp ln sin cos tan tanh sqrt recip);
}

#[cfg(target_arch = "x86_64")]
fn functions(c: &mut Criterion) {
    use rev_core::lanes::{Avx2, Avx512};
    use rev_core::scalar::rt;
    const N: usize = 1024;
    let x: Vec<f64> = (0..N).map(|k| 0.01 + 0.0271828 * k as f64).collect();
    let narrow: Vec<f32> = x.iter().map(|x| *x as f32).collect();
    let mut y = vec![0.0; N];
    let mut z = vec![0.0; N];
    macro_rules! measure {
        ($($name:ident)*) => {$(
            let mut group = c.benchmark_group(stringify!($name));
            group.throughput(Throughput::Elements(N as u64));
            group.bench_function("std", |b| b.iter(|| {
                x.iter().zip(&mut y).for_each(|(x, y)| *y = x.$name());
            }));
            group.bench_function("scalar", |b| b.iter(|| {
                x.iter().zip(&mut y).for_each(|(x, y)| *y = rt::$name(*x));
            }));
            if let Some(s) = Avx2::detect() {
                // SAFETY: the token says that the processor has the instructions.
                group.bench_function("AVX2", |b| b.iter(|| unsafe { x86::$name::avx2(s, &x, &mut y) }));
            }
            if let Some(s) = Avx512::detect() {
                // SAFETY: the token says that the processor has the instructions.
                group.bench_function("AVX-512", |b| b.iter(|| unsafe { x86::$name::avx512(s, &x, &mut y) }));
                // SAFETY: the token says that the processor has the instructions.
                group.bench_function("AVX-512 f32", |b| b.iter(|| unsafe { x86::$name::avx512_single(s, &narrow, &mut z) }));
            }
            group.finish();
        )*};
    }
    measure!(exp ln sin cos tan tanh sqrt recip);
}

#[cfg(not(target_arch = "x86_64"))]
fn functions(_: &mut Criterion) {}

criterion_group!(benches, functions);
criterion_main!(benches);
