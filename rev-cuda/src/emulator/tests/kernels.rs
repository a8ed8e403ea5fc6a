//! Whole kernels, written by hand.

use super::{doubles, kernel, launch, read_doubles, read_words, words};

#[test]
fn vectors_are_added() {
    let text = kernel(
        3,
        "setp.ge.u32 %p0, %r30, 100;\n@%p0 bra END;\nmul.wide.u32 %l0, %r30, 8;\nadd.s64 %l1, %l10, %l0;\n\
         add.s64 %l2, %l11, %l0;\nadd.s64 %l3, %l12, %l0;\nld.global.nc.f64 %d0, [%l1];\nld.global.f64 %d1, [%l2];\n\
         add.rn.f64 %d2, %d0, %d1;\nst.global.f64 [%l3], %d2;\nEND:\nret;",
    );
    let (a, b): (Vec<f64>, Vec<f64>) = (0..100).map(|i| (i as f64 * 0.1, 1.0 / (1.0 + i as f64))).unzip();
    let mut buffers = [doubles(&a), doubles(&b), doubles(&[0.0; 100])];
    launch(&text, 4, 32, &mut buffers).unwrap();
    let sum: Vec<f64> = a.iter().zip(&b).map(|(a, b)| a + b).collect();
    assert_eq!(read_doubles(&buffers[2]), sum);
}

#[test]
fn a_block_reduces_by_shuffles_and_shared_memory() {
    // Butterflies of f64 as two halves, a word of each warp in shared memory, one atomic per block.
    let step = |mask: u32| {
        format!(
            "mov.b64 {{%r0, %r1}}, %d0;\nshfl.sync.bfly.b32 %r0, %r0, {mask}, 31, -1;\n\
             shfl.sync.bfly.b32 %r1, %r1, {mask}, 31, -1;\nmov.b64 %d1, {{%r0, %r1}};\nadd.rn.f64 %d0, %d0, %d1;\n"
        )
    };
    let warp: String = [16, 8, 4, 2, 1].map(step).concat();
    let text = kernel(
        2,
        &format!(
            ".shared .align 8 .f64 sums[4];\nmul.wide.u32 %l0, %r30, 8;\nadd.u64 %l1, %l10, %l0;\n\
             ld.global.f64 %d0, [%l1];\n{warp}mov.u32 %r2, %tid.x;\nand.b32 %r3, %r2, 31;\n\
             setp.ne.u32 %p0, %r3, 0;\nshr.u32 %r4, %r2, 5;\nmov.u32 %r5, sums;\nmad.lo.u32 %r5, %r4, 8, %r5;\n\
             @!%p0 st.shared.f64 [%r5], %d0;\nbar.sync 0;\nsetp.ne.u32 %p1, %r2, 0;\n@%p1 ret;\n\
             mov.f64 %d0, 0d0000000000000000;\nmov.u32 %r6, sums;\nadd.u32 %r7, %r6, 32;\nLOOP:\n\
             ld.shared.f64 %d1, [%r6];\nadd.rn.f64 %d0, %d0, %d1;\nadd.u32 %r6, %r6, 8;\n\
             setp.lt.u32 %p2, %r6, %r7;\n@%p2 bra LOOP;\nred.global.add.f64 [%l11], %d0;\nret;"
        ),
    );
    let values: Vec<f64> = (0..384).map(|i| (i * i) as f64).collect();
    let mut buffers = [doubles(&values), doubles(&[0.5])];
    launch(&text, 3, 128, &mut buffers).unwrap();
    assert_eq!(read_doubles(&buffers[1]), [values.iter().sum::<f64>() + 0.5]);
}

#[test]
fn a_histogram_by_atomics() {
    let text = kernel(
        2,
        ".shared .u32 bins[8];\nmov.u32 %r0, %tid.x;\nmov.u32 %r1, bins;\nmad.lo.u32 %r2, %r0, 4, %r1;\n\
         setp.lt.u32 %p0, %r0, 8;\n@%p0 st.shared.u32 [%r2], 0;\nbar.sync 0;\nmul.wide.u32 %l0, %r30, 4;\n\
         add.u64 %l0, %l10, %l0;\nld.global.u32 %r3, [%l0];\nand.b32 %r3, %r3, 7;\nmad.lo.u32 %r3, %r3, 4, %r1;\n\
         red.shared.add.u32 [%r3], 1;\nbar.sync 0;\n@!%p0 bra END;\nld.shared.u32 %r4, [%r2];\n\
         mul.wide.u32 %l1, %r0, 4;\nadd.u64 %l1, %l11, %l1;\nred.global.add.u32 [%l1], %r4;\nEND:\nret;",
    );
    let values: Vec<u32> = (0..256u32).map(|i| i.wrapping_mul(2654435761) >> 7).collect();
    let mut buffers = [words(&values), words(&[0; 8])];
    launch(&text, 2, 128, &mut buffers).unwrap();
    let mut bins = [0; 8];
    values.iter().for_each(|v| bins[(v & 7) as usize] += 1);
    assert_eq!(read_words(&buffers[1]), bins);
}

#[test]
fn bytes_next_to_one_another() {
    let text = kernel(
        1,
        "cvt.u64.u32 %l0, %r30;\nadd.u64 %l0, %l10, %l0;\nld.global.u8 %r1, [%l0];\nadd.u32 %r1, %r1, %r30;\n\
         st.global.u8 [%l0], %r1;\nret;",
    );
    let mut buffers = [vec![3u8; 96]];
    launch(&text, 3, 32, &mut buffers).unwrap();
    assert!(buffers[0].iter().enumerate().all(|(i, v)| *v == 3 + i as u8));
}

#[test]
fn a_warp_with_fewer_lanes() {
    let text = kernel(
        1,
        "redux.sync.add.u32 %r0, %r30, -1;\nmul.wide.u32 %l0, %r30, 4;\nadd.u64 %l0, %l10, %l0;\n\
         st.global.u32 [%l0], %r0;\nbar.sync 0;\nret;",
    );
    let mut buffers = [words(&[0; 5])];
    launch(&text, 1, 5, &mut buffers).unwrap();
    assert_eq!(read_words(&buffers[0]), [10; 5]);
}
