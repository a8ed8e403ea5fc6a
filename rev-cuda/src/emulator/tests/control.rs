//! Branches, guards, special registers, exchanges between lanes, and barriers.

use super::{kernel, launch, read_words, words};

/// What 64 threads of two warps put into `%r0`.
fn per_thread(body: &str) -> Result<Vec<u32>, String> {
    let text = kernel(
        1,
        &format!(
            "{body}\nmul.wide.u32 %l1, %r30, 4;\nadd.u64 %l1, %l10, %l1;\nst.global.u32 [%l1], %r0;\nret;"
        ),
    );
    let mut buffers = [words(&[0; 64])];
    launch(&text, 1, 64, &mut buffers)?;
    Ok(read_words(&buffers[0]))
}

fn each(f: impl Fn(u32) -> u32) -> Vec<u32> {
    (0..64).map(f).collect()
}

#[test]
fn special_registers() {
    let read = |name: &str| per_thread(&format!("mov.u32 %r0, {name};")).unwrap();
    assert_eq!(read("%tid.x"), each(|t| t));
    assert_eq!(read("%ntid.x"), each(|_| 64));
    assert_eq!(read("%laneid"), each(|t| t % 32));
    assert_eq!(read("%warpid"), each(|t| t / 32));
    assert_eq!(read("%nctaid.x"), each(|_| 1));
    assert_eq!(read("%ntid.y"), each(|_| 1));
    assert_eq!(read("%lanemask_eq"), each(|t| 1 << (t % 32)));
    assert_eq!(read("%lanemask_lt"), each(|t| (1 << (t % 32)) - 1));
    assert_eq!(read("%lanemask_ge"), each(|t| !((1 << (t % 32)) - 1)));
    assert_eq!(read("%lanemask_le"), each(|t| u32::MAX >> (31 - t % 32)));
    assert_eq!(read("%lanemask_gt"), each(|t| !(u32::MAX >> (31 - t % 32))));
}

#[test]
fn loops_whose_lanes_part_and_meet() {
    // Collatz steps, then a vote that all lanes reach together again.
    let body = "add.u32 %r1, %r30, 1;\nmov.u32 %r0, 0;\nLOOP:\nsetp.eq.u32 %p0, %r1, 1;\n@%p0 bra DONE;\n\
        and.b32 %r2, %r1, 1;\nsetp.eq.u32 %p1, %r2, 0;\n@%p1 bra EVEN;\nmad.lo.u32 %r1, %r1, 3, 1;\nbra STEP;\n\
        EVEN:\nshr.u32 %r1, %r1, 1;\nSTEP:\nadd.u32 %r0, %r0, 1;\nbra.uni LOOP;\nDONE:\nactivemask.b32 %r3;\n\
        @%p0 add.u32 %r0, %r0, 0;\nshr.u32 %r3, %r3, 31;\nmad.lo.u32 %r0, %r3, 1000, %r0;";
    let collatz = |t: u32| {
        let (mut n, mut steps) = (t + 1, 0);
        while n != 1 {
            n = if n % 2 == 0 { n / 2 } else { 3 * n + 1 };
            steps += 1;
        }
        steps + 1000
    };
    assert_eq!(per_thread(body).unwrap(), each(collatz));
}

#[test]
fn guards_and_early_exits() {
    let body = "mov.u32 %r0, 1;\nsetp.lt.u32 %p0, %r30, 40;\n@!%p0 mov.u32 %r0, 2;\n\
        setp.eq.u32 %p1, %r30, 5;\n@%p1 exit;";
    assert_eq!(
        per_thread(body).unwrap(),
        each(|t| if t == 5 {
            0
        } else if t < 40 {
            1
        } else {
            2
        })
    );
}

#[test]
fn shuffles() {
    let run = |how: &str| {
        per_thread(&format!(
            "mov.u32 %r1, %laneid;\nadd.u32 %r1, %r1, 100;\nshfl.sync.{how}, -1;\nselp.u32 %r3, 1000, 0, %p0;\nadd.u32 %r0, %r2, %r3;"
        ))
        .unwrap()
    };
    let lane = |t: u32| t % 32;
    let inside = |yes: bool| if yes { 1000 } else { 0 };
    let bfly = run("bfly.b32 %r2|%p0, %r1, 5, 31");
    assert_eq!(bfly, each(|t| 1100 + (lane(t) ^ 5)));
    let up = run("up.b32 %r2|%p0, %r1, 3, 0");
    assert_eq!(up, each(|t| 100 + if lane(t) >= 3 { lane(t) - 3 } else { lane(t) } + inside(lane(t) >= 3)));
    let down = run("down.b32 %r2|%p0, %r1, 3, 31");
    assert_eq!(down, each(|t| 100 + if lane(t) < 29 { lane(t) + 3 } else { lane(t) } + inside(lane(t) < 29)));
    let index = run("idx.b32 %r2|%p0, %r1, 7, 31");
    assert_eq!(index, each(|_| 1107));
    // Segments of 8 lanes: the mask of segments is 0x18, from bit 8 on.
    let segment = run("idx.b32 %r2|%p0, %r1, 2, 0x181f");
    assert_eq!(segment, each(|t| 1100 + lane(t) / 8 * 8 + 2));
    let down = run("down.b32 %r2|%p0, %r1, 1, 0x181f");
    assert_eq!(down, each(|t| 100 + if t % 8 < 7 { lane(t) + 1 + 1000 } else { lane(t) }));
}

#[test]
fn votes_and_matches() {
    let odd = "and.b32 %r1, %r30, 1;\nsetp.eq.u32 %p1, %r1, 1;\nsetp.lt.u32 %p2, %r30, 32;\n";
    let run = |text: &str| per_thread(&format!("{odd}{text}")).unwrap();
    assert_eq!(run("vote.sync.ballot.b32 %r0, %p1, -1;"), each(|_| 0xaaaa_aaaa));
    assert_eq!(run("vote.sync.ballot.b32 %r0, !%p1, 0xffffffff;"), each(|_| 0x5555_5555));
    let pred =
        |mode: &str, p: &str| run(&format!("vote.sync.{mode}.pred %p0, {p}, -1;\nselp.u32 %r0, 1, 0, %p0;"));
    assert_eq!(pred("any", "%p1"), each(|_| 1));
    assert_eq!(pred("all", "%p1"), each(|_| 0));
    assert_eq!(pred("uni", "%p1"), each(|_| 0));
    assert_eq!(pred("all", "%p2"), each(|t| u32::from(t < 32)));
    assert_eq!(pred("uni", "%p2"), each(|_| 1));
    let group = run("rem.u32 %r2, %r30, 3;\nmatch.any.sync.b32 %r0, %r2, -1;");
    assert_eq!(
        group,
        each(|t| (0..32).filter(|l| (t / 32 * 32 + l) % 3 == t % 3).fold(0, |m, l| m | 1 << l))
    );
    let all = run("mov.u64 %l1, 9;\nmatch.all.sync.b64 %r0|%p0, %l1, -1;\n@!%p0 mov.u32 %r0, 5;");
    assert_eq!(all, each(|_| u32::MAX));
    assert_eq!(run("match.all.sync.b32 %r0|%p0, %r1, -1;\n@!%p0 mov.u32 %r0, 5;"), each(|_| 5));
    assert_eq!(run("redux.sync.add.u32 %r0, %r30, -1;"), each(|t| if t < 32 { 496 } else { 496 + 1024 }));
    assert_eq!(
        run("sub.u32 %r2, %r30, 40;\nredux.sync.max.s32 %r0, %r2, -1;"),
        each(|t| if t < 32 { -9i32 as u32 } else { 23 })
    );
}

#[test]
fn halves_of_a_warp_exchange_apart() {
    // Each half names itself; they come one after the other.
    let body = "and.b32 %r1, %r30, 16;\nsetp.eq.u32 %p0, %r1, 0;\n@%p0 bra LOW;\n\
        shfl.sync.bfly.b32 %r0, %r30, 1, 31, 0xffff0000;\nbra END;\nLOW:\n\
        redux.sync.min.u32 %r0, %r30, 0x0000ffff;\nEND:\nbar.warp.sync -1;";
    assert_eq!(per_thread(body).unwrap(), each(|t| if t & 16 != 0 { t ^ 1 } else { t / 32 * 32 }));
    // One instruction, two masks.
    let body = "and.b32 %r1, %r30, 16;\nsetp.eq.u32 %p0, %r1, 0;\nselp.b32 %r2, 0xffff, 0xffff0000, %p0;\n\
        redux.sync.max.u32 %r0, %r30, %r2;";
    assert_eq!(per_thread(body).unwrap(), each(|t| t / 16 * 16 + 15));
}

#[test]
fn barriers_order_shared_memory() {
    // Reversed through shared memory, the two warps at different paces; and a named barrier of one warp.
    let body = ".shared .u32 s[64];\nmov.u32 %r1, s;\nmad.lo.u32 %r2, %r30, 4, %r1;\nst.shared.u32 [%r2], %r30;\n\
        bar.sync 0;\nsub.u32 %r3, 63, %r30;\nmad.lo.u32 %r4, %r3, 4, %r1;\nld.shared.u32 %r0, [%r4];\n\
        barrier.sync 0;\nst.shared.u32 [%r2], 0;\nsetp.lt.u32 %p0, %r30, 32;\n@%p0 bar.sync 1, 32;\nmembar.cta;";
    assert_eq!(per_thread(body).unwrap(), each(|t| 63 - t));
}
