//! What a kernel may not do: each error names the line, the thread and the place.

use super::{emulator, kernel, launch, launch_on, words};
use crate::driver::{Driver, Target};
use crate::emulator::Emulator;

/// The error of 64 threads, on a buffer of 64 words.
fn fault(body: &str) -> String {
    let text = kernel(1, &format!("mul.wide.u32 %l1, %r30, 4;\nadd.u64 %l1, %l10, %l1;\n{body}\nret;"));
    launch(&text, 1, 64, &mut [words(&[0; 64])]).unwrap_err()
}

fn assert_fault(body: &str, parts: &[&str]) {
    let message = fault(body);
    for part in parts {
        assert!(message.contains(part), "{body}\n{message}\nshould contain `{part}`");
    }
}

#[test]
fn bad_accesses() {
    assert_fault(
        "ld.global.u32 %r0, [%l1+4];",
        &[
            "kernel `k`",
            "line 18 `ld.global.u32 %r0, [%l1+4];`",
            "thread 63 of block 0",
            "offset 256 of `b0`, which has 256 bytes",
        ],
    );
    assert_fault("ld.global.u32 %r0, [%l10+-4];", &["offset -4 of `b0`"]);
    assert_fault("mov.u64 %l2, 8; ld.global.u32 %r0, [%l2];", &["nothing is allocated"]);
    assert_fault("ld.global.u32 %r0, [%l10+2];", &["isn't aligned to 4 bytes"]);
    assert_fault("ld.global.v2.u32 {%r0, %r1}, [%l10+4];", &["isn't aligned to 8 bytes"]);
    assert_fault(
        ".shared .u32 s; st.shared.u32 [s+4], 1;",
        &["offset 4 of shared memory, which has 4 bytes"],
    );
    assert_fault(".local .u32 s; st.local.u32 [s+-4], 1;", &["offset -4 of local memory"]);
    assert_fault(
        ".shared .u32 s; ld.shared.u32 %r0, [s];",
        &["byte 0 of shared memory, which was never written"],
    );
    assert_fault(".local .u64 s; st.local.u32 [s], 1; ld.local.u64 %l0, [s];", &["byte 4 of local memory"]);
    assert_fault("add.u32 %r0, %r5, 1;", &["`%r5` is read before it is written"]);
    assert_fault("@%p5 add.u32 %r0, %r30, 1;", &["`%p5` is read before it is written"]);
    assert_fault(
        "setp.eq.u32 %p0, %r30, 9; @%p0 mov.u32 %r0, 1; add.u32 %r0, %r0, 1;",
        &["`%r0` is read", "thread 0"],
    );
    assert_fault("trap;", &["a trap"]);
}

#[test]
fn what_was_never_written_or_was_freed() {
    let device = emulator();
    let module = device.load(&kernel(1, "ld.global.u32 %r0, [%l10+8];\nret;")).unwrap();
    let buffer = device.allocate("weights", 16).unwrap();
    device.upload(buffer, &[0; 8]).unwrap();
    let run = || device.launch(module, "k", 1, 1, &[buffer.to_le_bytes().to_vec()]);
    let message = run().unwrap_err().to_string();
    assert!(message.contains("reads byte 8 of `weights`, which was never written"), "{message}");
    device.clear(buffer, 16).unwrap();
    run().unwrap();
    device.free(buffer);
    let message = run().unwrap_err().to_string();
    assert!(message.contains("offset 8 of `weights`, which was freed"), "{message}");
    assert!(device.upload(buffer, &[0]).is_err() && device.download(buffer, &mut [0]).is_err());
}

#[test]
fn races_name_both_threads() {
    assert_fault(
        "st.global.u32 [%l10], %r30;",
        &[
            "race: writes `b0` at offset 0",
            "thread 1 of block 0",
            "which thread 0 of block 0 wrote in line 18",
        ],
    );
    assert_fault(
        "st.global.u32 [%l1], 1; ld.global.u32 %r0, [%l10];",
        &["race: reads", "thread 0 of block 0 wrote"],
    );
    assert_fault("ld.global.u32 %r0, [%l10]; st.global.u32 [%l1], 1;", &["race: writes", "read in line 18"]);
    assert_fault(
        "red.global.add.u32 [%l10], 1; ld.global.u32 %r0, [%l10];",
        &["race: reads", "changed atomically in line 18"],
    );
    assert_fault(
        "atom.global.add.u32 %r0, [%l10], 1; st.global.u32 [%l10], 2;",
        &["race: writes", "atomically"],
    );
    assert_fault(".shared .u32 s; st.shared.u32 [s], 2;", &["race: writes shared memory at offset 0"]);
    assert_fault(
        ".shared .u32 s[64]; cvt.u32.u64 %r1, %l1; mov.u32 %r2, %tid.x; shl.b32 %r2, %r2, 2; st.shared.u32 [%r2], 1;
         setp.lt.u32 %p0, %r30, 63; @%p0 ld.shared.u32 %r0, [%r2+4];",
        &["race: reads shared memory at offset 4", "thread 1 of block 0 wrote in line 18"],
    );
}

#[test]
fn blocks_are_not_ordered() {
    let text = kernel(
        1,
        "setp.ne.u32 %p0, %r31, 0;\n@%p0 ld.global.u32 %r0, [%l10];\n@!%p0 st.global.u32 [%l10], 1;\nret;",
    );
    let message = launch(&text, 2, 1, &mut [words(&[0])]).unwrap_err();
    assert!(message.contains("thread 0 of block 1: race: reads"), "{message}");
    let off = emulator().without_race_checks();
    launch_on(&off, &text, 2, 1, &mut [words(&[0])]).unwrap();
    let strong =
        text.replace("ld.global", "ld.relaxed.gpu.global").replace("st.global", "st.relaxed.gpu.global");
    launch(&strong, 2, 1, &mut [words(&[0])]).unwrap();
    let narrow = kernel(1, "red.cta.global.add.u32 [%l10], 1;\nret;");
    let message = launch(&narrow, 2, 1, &mut [words(&[0])]).unwrap_err();
    assert!(message.contains("changes atomically") && message.contains("thread 0 of block 0"), "{message}");
}

#[test]
fn a_kernel_ends_a_race() {
    let device = emulator();
    let module = device.load(&kernel(1, "st.global.u32 [%l10], %r30;\nret;")).unwrap();
    let buffer = device.allocate("b", 4).unwrap();
    for _ in 0..2 {
        device.launch(module, "k", 1, 1, &[buffer.to_le_bytes().to_vec()]).unwrap();
    }
}

#[test]
fn barriers_that_never_fill() {
    assert_fault(
        "setp.lt.u32 %p0, %r30, 40;\n@%p0 bar.sync 0;",
        &["line 19", "thread 0 of block 0: waits at the barrier for thread 40 of block 0, which has left"],
    );
    assert_fault(
        "setp.lt.u32 %p0, %r30, 40;\n@%p0 bar.sync 0;\n@!%p0 bar.sync 1;",
        &["waits at the barrier for thread 40 of block 0, which waits in line 20"],
    );
    assert_fault(
        "setp.lt.u32 %p0, %r30, 40;\n@%p0 bar.sync 0;\n@!%p0 bar.sync 0;",
        &["line 19", "other threads of the warp are at another barrier, in line 20"],
    );
    assert_fault("bar.sync 1, 96;", &["more threads than there are"]);
    assert_fault("mov.u32 %r1, 33; bar.sync 1, %r1;", &["a multiple of the warp's"]);
    assert_fault("bar.sync %r30;", &["differs"]);
}

#[test]
fn exchanges_with_lanes_that_are_not_there() {
    assert_fault(
        "shfl.sync.bfly.b32 %r0, %r30, 1, 31, 0xff;",
        &["thread 8 of block 0", "doesn't name the thread itself"],
    );
    assert_fault(
        "setp.lt.u32 %p0, %r30, 32;\n@%p0 bar.sync 1, 32;\nsetp.eq.u32 %p1, %r30, 3;\n@%p1 bra OUT;\nvote.sync.ballot.b32 %r0, %p0, -1;\nbra END;\nOUT:\nbar.warp.sync -1;\nEND:",
        &["waits for thread 3 of block 0, which waits in line 25"],
    );
    assert_fault(
        "setp.eq.u32 %p1, %r30, 3;\n@%p1 exit;\nshfl.sync.idx.b32 %r0, %r30, 3, 31, -1;",
        &["thread 0 of block 0: reads lane 3, which doesn't take part"],
    );
    assert_fault("setp.eq.u32 %p1, %r30, 3;\n@%p1 bra.uni END;\nEND:", &["said to be uniform"]);
}

#[test]
fn below_sm_70_lanes_must_come_together() {
    let body =
        "setp.lt.u32 %p0, %r30, 16;\n@%p0 bra A;\nbar.warp.sync -1;\nbra B;\nA:\nbar.warp.sync -1;\nB:\nret;";
    let text = kernel(1, body).replace("sm_90", "sm_60");
    let old = Emulator::new().with_target(Target(60));
    let message = launch_on(&old, &text, 1, 32, &mut [words(&[0])]).unwrap_err();
    assert!(message.contains("names lane 0, which isn't here"), "{message}");
}

#[test]
fn kernels_that_do_not_end() {
    let device = emulator().with_step_limit(1000);
    let text = kernel(1, "L:\nbra L;");
    let message = launch_on(&device, &text, 1, 32, &mut [words(&[0])]).unwrap_err();
    assert!(message.contains("isn't done after 1000 instructions"), "{message}");
    let message = launch(&kernel(1, ""), 1, 32, &mut [words(&[0])]).unwrap_err();
    assert!(message.contains("runs past the end"), "{message}");
}

#[test]
fn impossible_launches() {
    let device = emulator();
    let text = kernel(1, "ret;").replace(") {", ") .maxntid 64 {");
    let module = device.load(&text).unwrap();
    let param = vec![vec![0; 8]];
    let run = |name: &str, grid, block, params: &[Vec<u8>]| {
        device.launch(module, name, grid, block, params).unwrap_err().to_string()
    };
    assert!(run("k", 1, 128, &param).contains("`.maxntid` allows 64"));
    assert!(run("k", 0, 32, &param).contains("can't be launched"));
    assert!(run("k", 1, 2000, &param).contains("can't be launched"));
    assert!(run("j", 1, 32, &param).contains("there is no kernel `j`"));
    assert!(run("k", 1, 32, &[]).contains("takes 1 parameters, not 0"));
    assert!(run("k", 1, 32, &[vec![0; 4]]).contains("`b0` has 8 bytes and is given 4"));
    assert!(device.launch(crate::driver::ModuleHandle(7), "k", 1, 1, &param).is_err());
    device.launch(module, "k", 1, 64, &param).unwrap();
    assert!(device.executed() > 0);
}

#[test]
fn memory_runs_out() {
    let device = emulator().with_memory(1000);
    let a = device.allocate("a", 600).unwrap();
    let message = device.allocate("b", 600).unwrap_err().to_string();
    assert!(message.contains("no room for the 600 bytes of `b`: 600 of 1000 are in use"), "{message}");
    device.free(a);
    device.allocate("b", 600).unwrap();
}
