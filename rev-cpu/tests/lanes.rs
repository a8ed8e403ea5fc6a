//! The accesses of lanes against a model that goes lane by lane: random shapes, strides, indices and
//! masks, every kind of index on every axis, on every instruction set that the processor has, with all
//! lanes and with half of them.

#![allow(clippy::unwrap_used)]

use std::fmt::Debug;

use ndarray::{s, Array2, ArrayViewMut2, Axis};
use rev_cpu::__private::lanes::{
    self, vectorize, Group, Index, Isa, LaneMask, Laned, Level, Lin, Mask, Pack, Portable, NARROW, WIDTH,
};
use rev_cpu::__private::{
    Complex, Dynamic, Error, Exclusive, Linear, NoShadow, Restoring, Run, Slice, Strided, Up, Zero,
};
use rev_cpu::prelude::{Batch, Cpu};

/// Random numbers, the same in every run.
struct Random(u64);

impl Random {
    fn below(&mut self, n: usize) -> usize {
        self.0 = self.0.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (self.0 >> 33) as usize % n.max(1)
    }
}

/// Elements made of small integers, whose sums are exact in any order.
trait Element: Laned + Zero + Clone + Debug + PartialEq + Send + Sync {
    fn of(n: usize) -> Self;
}

macro_rules! elements {
    ($($t:ty: |$n:ident| $e:expr;)*) => {$(
        impl Element for $t {
            fn of($n: usize) -> Self {
                $e
            }
        }
    )*};
}
elements! {
    f64: |n| n as f64;
    f32: |n| n as f32;
    i64: |n| n as i64 - 5;
    i32: |n| n as i32 - 5;
    usize: |n| n;
    u8: |n| n as u8;
    bool: |n| n % 2 == 1;
    [f64; 3]: |n| [n as f64, n as f64 + 0.5, -(n as f64)];
    [f64; 11]: |n| std::array::from_fn(|i| (n + i) as f64);
    [[f32; 2]; 2]: |n| [[n as f32, 1.0], [2.0, -(n as f32)]];
    Batch<f64, 2>: |n| Batch([n as f64, 3.0 - n as f64]);
    Complex<f64>: |n| Complex::new(n as f64, 1.0);
    NoShadow<f64>: |n| { let _ = n; NoShadow::NEW };
}

fn pack<E: Element>(random: &mut Random) -> Pack<E> {
    let mut all = lanes::splat(E::zero());
    (0..WIDTH).for_each(|k| lanes::set(&mut all, k, E::of(random.below(100))));
    all
}

/// An index of one axis of a kind, most often in range.
trait Draw: Index + Debug {
    fn draw(random: &mut Random, extent: usize) -> Self;
}

fn nearly(random: &mut Random, extent: usize) -> usize {
    match random.below(12) {
        0 => random.below(2 * extent + 2),
        1 => usize::MAX - random.below(3),
        _ => random.below(extent),
    }
}

impl Draw for usize {
    fn draw(random: &mut Random, extent: usize) -> Self {
        nearly(random, extent)
    }
}

impl Draw for Lin<usize> {
    fn draw(random: &mut Random, extent: usize) -> Self {
        let first = nearly(random, extent);
        match random.below(6) {
            0 => Lin { first, step: 0 },
            1 => Lin { first: extent.wrapping_sub(1 + random.below(3)), step: usize::MAX },
            2 => Lin { first, step: random.below(4).wrapping_sub(1) },
            3 => Lin { first, step: usize::MAX / (WIDTH - 1) + random.below(3) },
            _ => Lin { first: random.below(extent.saturating_sub(WIDTH)), step: 1 },
        }
    }
}

impl Draw for Pack<usize> {
    fn draw(random: &mut Random, extent: usize) -> Self {
        let wild = random.below(3) == 0;
        let mut all = lanes::splat(0);
        for k in 0..WIDTH {
            let i = if wild { nearly(random, extent) } else { random.below(extent) };
            lanes::set(&mut all, k, i);
        }
        all
    }
}

/// The active lanes: any of them, or the first ones as in the last group of a loop.
#[derive(Clone, Copy, Debug)]
struct Drawn {
    bits: LaneMask,
    part: Option<usize>,
}

impl Mask for Drawn {
    fn is_all(self) -> bool {
        self.part.is_some()
    }
    fn part(self) -> Option<usize> {
        self.part
    }
    fn bits<S: Isa>(self, _: S) -> LaneMask {
        self.bits
    }
}

/// None in some cases.
fn mask<S: Isa>(random: &mut Random) -> Drawn {
    let part = (random.below(3) == 0).then(|| 1 + random.below(S::LANES - 1));
    let bits: LaneMask = match (part, random.below(4)) {
        (Some(n), _) => lanes::first(n).0,
        (None, 0) => LaneMask::MAX,
        (None, 1) => 1 << random.below(S::LANES),
        (None, 2) => 0,
        (None, _) => (random.below(1 << 16) | random.below(1 << 16) << 16) as LaneMask,
    };
    Drawn { bits: bits & S::ALL, part }
}

fn active(m: Drawn) -> impl Iterator<Item = usize> {
    (0..WIDTH).filter(move |k| m.bits >> k & 1 == 1)
}

/// A table with room around it, of which a view with its own strides is used.
struct Case<E> {
    table: Array2<E>,
    view: usize,
}

impl<E: Element> Case<E> {
    fn new(random: &mut Random) -> Self {
        let sizes = [0, 1, 2, 17, 32, 33, 80];
        let (rows, columns) = (sizes[random.below(7)], sizes[random.below(7)]);
        let table = Array2::from_shape_simple_fn((rows, columns), || E::of(random.below(100)));
        Case { table, view: random.below(6) }
    }

    fn view(&mut self) -> ArrayViewMut2<'_, E> {
        match self.view {
            0 => self.table.view_mut().reversed_axes(),
            1 => self.table.slice_mut(s![..;-1, ..]),
            2 => self.table.slice_mut(s![.., ..;-1]),
            3 => self.table.slice_mut(s![..;2, ..;3]),
            4 => self.table.slice_mut(s![..;-2, ..;-1]).reversed_axes(),
            _ => self.table.view_mut(),
        }
    }
}

/// What the model says of an access: the first lane out of range.
fn first_beyond(m: Drawn, index: impl Fn(usize) -> [usize; 2], shape: [usize; 2]) -> Result<(), usize> {
    match active(m).find(|&k| index(k)[0] >= shape[0] || index(k)[1] >= shape[1]) {
        Some(k) => Err(k),
        None => Ok(()),
    }
}

/// One access on a view, as a function of the handle.
fn write_case<E: Element, S: Isa, A: Draw, B: Draw>(
    s: S,
    random: &mut Random,
    access: impl Fn(S, Drawn, Strided<'_, E, 2, Exclusive>, (A, B), Pack<E>) -> Result<(), usize>,
    model: impl Fn(&mut ArrayViewMut2<'_, E>, Drawn, &dyn Fn(usize) -> [usize; 2], &Pack<E>),
) {
    let _ = s;
    let mut case = Case::<E>::new(random);
    let shape: [usize; 2] = case.view().shape().try_into().unwrap();
    let (a, b) = (A::draw(random, shape[0]), B::draw(random, shape[1]));
    let (m, v) = (mask::<S>(random), pack::<E>(random));
    let index = |k| [a.at(k), b.at(k)];
    let mut expected = Case { table: case.table.clone(), view: case.view };
    let in_range = first_beyond(m, index, shape);
    if in_range.is_ok() {
        model(&mut expected.view(), m, &index, &v);
    }
    let found = access(s, m, Strided::exclusive(case.view()).unwrap(), (a, b), v);
    assert_eq!(found, in_range, "{m:?} {a:?} {b:?} {shape:?}");
    assert_eq!(case.table, expected.table, "{m:?} {a:?} {b:?} {shape:?}");
}

fn read_case<E: Element, S: Isa, A: Draw, B: Draw>(s: S, random: &mut Random) {
    let mut case = Case::<E>::new(random);
    let table = case.table.clone();
    let view = case.view();
    let shape: [usize; 2] = view.shape().try_into().unwrap();
    let (a, b, m) = (A::draw(random, shape[0]), B::draw(random, shape[1]), mask::<S>(random));
    let in_range = first_beyond(m, |k| [a.at(k), b.at(k)], shape);
    let handle = Strided::<E, 2, _>::shared(view.view()).unwrap();
    let check = |found: Result<Pack<E>, usize>| {
        assert_eq!(found.as_ref().map(|_| ()).map_err(|k| *k), in_range, "{m:?} {a:?} {b:?} {shape:?}");
        if let Ok(found) = found {
            for k in active(m) {
                assert_eq!(lanes::get(&found, k), view[[a.at(k), b.at(k)]], "{k} {m:?} {a:?} {b:?}");
            }
        }
    };
    check(handle.lanes_read(s, m, (a, b)));
    if m.bits == S::ALL {
        check(handle.lanes_read(s, lanes::All, (a, b)));
    }
    // a column that is broadcast: stride 0
    if shape[1] > 0 {
        let broadcast = view.column(0).insert_axis(Axis(1));
        let wide = broadcast.broadcast((shape[0], 50)).unwrap();
        let c = B::draw(random, 50);
        let found = Strided::<E, 2, _>::shared(wide).unwrap().lanes_read(s, m, (a, c));
        let in_range = first_beyond(m, |k| [a.at(k), c.at(k)], [shape[0], 50]);
        assert_eq!(found.as_ref().map(|_| ()).map_err(|k| *k), in_range);
        if let Ok(found) = found {
            active(m).for_each(|k| assert_eq!(lanes::get(&found, k), view[[a.at(k), 0]]));
        }
    }
    assert_eq!(case.table, table);
}

/// Slices: rows are contiguous, so that loads of neighbours are taken.
fn slice_case<E: Element, S: Isa, A: Draw>(s: S, random: &mut Random) {
    let n = random.below(90);
    let mut elements: Vec<E> = (0..n).map(|_| E::of(random.below(100))).collect();
    let (a, m, v) = (A::draw(random, n), mask::<S>(random), pack::<E>(random));
    let mut expected = elements.clone();
    let bad = active(m).find(|&k| a.at(k) >= n).map_or(Ok(()), Err);
    let found = Slice::exclusive(&mut elements).lanes_read(s, m, (a,));
    assert_eq!(found.as_ref().map(|_| ()).map_err(|k| *k), bad);
    if let Ok(found) = found {
        active(m).for_each(|k| assert_eq!(lanes::get(&found, k), elements[a.at(k)], "{a:?} {m:?} {k}"));
        active(m).for_each(|k| expected[a.at(k)] = lanes::get(&v, k));
    }
    assert_eq!(Slice::exclusive(&mut elements).lanes_write(s, m, [a], v), bad);
    assert_eq!(elements, expected, "{a:?} {m:?}");
}

/// Arrays of which each lane has its own.
fn own_case<E: Element, S: Isa, A: Draw>(s: S, random: &mut Random) {
    let n = random.below(9);
    let mut packs: Vec<Pack<E>> = (0..n).map(|_| pack(random)).collect();
    let (a, m, v) = (A::draw(random, n), mask::<S>(random), pack::<E>(random));
    let bad = active(m).find(|&k| a.at(k) >= n).map_or(Ok(()), Err);
    let lane = |packs: &[Pack<E>], i: usize, k| lanes::get(&packs[i], k);
    let mut expected = packs.clone();
    match Slice::shared(&packs).pick(s, m, (a,)) {
        Ok(found) => {
            for k in active(m) {
                assert_eq!(lanes::get(&found, k), lane(&packs, a.at(k), k));
                lanes::set(&mut expected[a.at(k)], k, lanes::get(&v, k));
            }
            assert_eq!(bad, Ok(()));
        }
        Err(k) => assert_eq!(bad, Err(k)),
    }
    assert_eq!(Slice::exclusive(&mut packs).put(s, m, (a,), v), bad);
    // in a part of a group nobody looks at the others
    let looked_at = |k: usize| m.part.is_none_or(|n| k < n);
    for (i, k) in (0..n).flat_map(|i| (0..WIDTH).filter(|k| looked_at(*k)).map(move |k| (i, k))) {
        assert_eq!(lane(&packs, i, k), lane(&expected, i, k), "{a:?} {m:?}");
    }
}

fn storage<E: Element, S: Isa, A: Draw, B: Draw>(s: S, random: &mut Random) {
    for _ in 0..40 {
        read_case::<E, S, A, B>(s, random);
        slice_case::<E, S, A>(s, random);
        own_case::<E, S, A>(s, random);
        write_case::<E, S, A, B>(
            s,
            random,
            |s, m, handle, index, v| match m.bits == S::ALL {
                true => handle.lanes_write(s, lanes::All, index, v),
                false => handle.lanes_write(s, m, index, v),
            },
            |view, m, index, v| active(m).for_each(|k| view[index(k)] = lanes::get(v, k)),
        );
    }
}

/// What the lanes add to elements; several may have one element.
fn sums<E: Element + Linear, S: Isa, A: Draw, B: Draw>(s: S, random: &mut Random) {
    fn each<E: Element>(
        view: &mut ArrayViewMut2<'_, E>,
        m: Drawn,
        index: &dyn Fn(usize) -> [usize; 2],
        v: &Pack<E>,
        f: impl Fn(&mut E, &E),
    ) {
        active(m).for_each(|k| f(&mut view[index(k)], &lanes::get(v, k)));
    }
    type H<'a, E> = Strided<'a, E, 2, Exclusive>;
    for _ in 0..40 {
        let add = |s, m: Drawn, h: H<'_, E>, i, v| match m.bits == S::ALL {
            true => h.lanes_add(s, lanes::All, i, v),
            false => h.lanes_add(s, m, i, v),
        };
        write_case::<E, S, A, B>(s, random, add, |a, m, i, v| each(a, m, i, v, E::accumulate));
        let sub = |s, m, h: H<'_, E>, i, v| h.lanes_sub(s, m, i, v);
        write_case::<E, S, A, B>(s, random, sub, |a, m, i, v| each(a, m, i, v, E::deduct));
    }
    if rev_cpu::atomic::is_atomic::<E>() {
        for _ in 0..40 {
            let add = |s, m, h: H<'_, E>, i, v| h.lanes_add_atomic(s, m, i, v);
            write_case::<E, S, A, B>(s, random, add, |a, m, i, v| each(a, m, i, v, E::accumulate));
            let sub = |s, m, h: H<'_, E>, i, v| h.lanes_sub_atomic(s, m, i, v);
            write_case::<E, S, A, B>(s, random, sub, |a, m, i, v| each(a, m, i, v, E::deduct));
        }
    }
}

fn parities<E: Element + std::ops::BitXor<Output = E>, S: Isa, A: Draw, B: Draw>(s: S, random: &mut Random) {
    for _ in 0..40 {
        write_case::<E, S, A, B>(
            s,
            random,
            |s, m, handle, index, v| handle.lanes_xor(s, m, index, v),
            |view, m, index, v| {
                active(m).for_each(|k| view[index(k)] = view[index(k)].clone() ^ lanes::get(v, k));
            },
        );
    }
}

/// Arrays whose number of dimensions is known at run time go the same ways.
fn dynamic_case<E: Element + Linear, S: Isa, A: Draw, B: Draw>(s: S, random: &mut Random) {
    for _ in 0..40 {
        write_case::<E, S, A, B>(
            s,
            random,
            |s, m, handle, (a, b), v| {
                let dynamic = Dynamic::from(handle);
                let rank =
                    dynamic.lanes_read(s, m, (a,)).is_err() && dynamic.lanes_read(s, m, (a, b, 0)).is_err();
                assert!(rank);
                let old = dynamic.lanes_read(s, m, (a, b))?;
                dynamic.lanes_write(s, m, (a, b), v.clone())?;
                assert!(active(m).count() < 2 || dynamic.lanes_read(s, m, (a, b)).is_ok());
                dynamic.lanes_write(s, m, (a, b), old)?;
                dynamic.lanes_sub(s, m, (a, b), v)
            },
            |view, m, index, v| active(m).for_each(|k| view[index(k)].deduct(&lanes::get(v, k))),
        );
    }
}

/// Calls a test for pairs of kinds of indices: `all`, or one of each.
macro_rules! kinds {
    (all $f:ident, $e:ty, $s:expr, $random:expr) => {
        kinds!(some $f, $e, $s, $random);
        $f::<$e, _, usize, Lin<usize>>($s, $random);
        $f::<$e, _, usize, Pack<usize>>($s, $random);
        $f::<$e, _, Lin<usize>, Lin<usize>>($s, $random);
        $f::<$e, _, Lin<usize>, Pack<usize>>($s, $random);
        $f::<$e, _, Pack<usize>, usize>($s, $random);
        $f::<$e, _, Pack<usize>, Pack<usize>>($s, $random);
    };
    (some $f:ident, $e:ty, $s:expr, $random:expr) => {
        $f::<$e, _, usize, usize>($s, $random);
        $f::<$e, _, Lin<usize>, usize>($s, $random);
        $f::<$e, _, Pack<usize>, Lin<usize>>($s, $random);
    };
}

/// Calls a test on every instruction set and with either number of lanes, inside a function that enables it.
macro_rules! everywhere {
    (|$s:ident, $random:ident| $body:expr) => {
        everywhere!(@ WIDTH |$s, $random| $body);
        everywhere!(@ NARROW |$s, $random| $body);
    };
    (@ $lanes:ident |$s:ident, $random:ident| $body:expr) => {
        for cpu in cpus() {
            let run = Run::new(cpu.options());
            let one = Up::new(0, $lanes);
            let (groups, _) = lanes::split::<$lanes, _, _>(run.context::<Restoring>(), false, one);
            let mut groups_run = 0;
            let done: Result<(), Error> = vectorize!(groups, |$s, groups| {
                groups.each(|_, _| {
                    groups_run += 1;
                    let $random = &mut Random(7);
                    $body;
                    Ok(())
                })
            });
            done.unwrap();
            assert_eq!(groups_run, 1);
        }
    };
}

fn cpus() -> Vec<Cpu> {
    Level::ALL.iter().filter_map(|level| Cpu::new().isa(*level).ok()).collect()
}

macro_rules! tests {
    ($($name:ident: $which:ident $f:ident $($e:ty),*;)*) => {$(
        #[test]
        fn $name() {
            everywhere!(|s, random| {
                $(kinds!($which $f, $e, s, random);)*
            });
        }
    )*};
}
tests! {
    words_of_8_bytes: all storage f64;
    sums_of_words_of_8_bytes: all sums f64;
    words_of_4_bytes: some storage f32, i32;
    sums_of_words_of_4_bytes: some sums f32, i32;
    integers: some storage i64, usize, u8;
    sums_of_integers: some sums i64, u8;
    truth_values: some storage bool;
    parities_of_bits: some parities bool, u8, i64;
    parts: some storage [[f32; 2]; 2], [f64; 11], Batch<f64, 2>, Complex<f64>, NoShadow<f64>;
    sums_of_parts: some sums [f64; 3], [f64; 11], Batch<f64, 2>, Complex<f64>, NoShadow<f64>;
    dynamic_arrays: some dynamic_case f64;
}

fn visited<const LANES: usize, V: rev_cpu::steps::Visits<Item = usize>>(
    cpu: &Cpu,
    fixed: bool,
    visits: V,
) -> (Vec<usize>, usize) {
    let run = Run::new(cpu.options());
    let (groups, rest) = lanes::split::<LANES, _, _>(run.context::<Restoring>(), fixed, visits);
    let mut all = Vec::new();
    let mut visit = |m: Group, i: Lin<V::Item>| -> Result<(), ()> {
        let (bits, lanes) = (m.bits(Portable::<LANES>), LANES as u32);
        assert_eq!((bits.trailing_ones(), m.is_whole()), (bits.count_ones(), bits.count_ones() == lanes));
        all.extend((0..bits.count_ones() as usize).map(|k| i.at(k)));
        Ok(())
    };
    groups.each_twice(&mut visit).unwrap();
    groups.each(&mut visit).unwrap();
    let (first, second) = all.split_at(all.len() / 2);
    assert_eq!(first, second, "compiled once and twice");
    let grouped = all.len() / 2;
    all.truncate(grouped);
    all.extend(rest);
    all.sort_unstable();
    (all, grouped)
}

#[test]
fn groups_and_what_is_left_over_visit_every_value_once() {
    groups_and_what_is_left_over::<WIDTH>();
    groups_and_what_is_left_over::<NARROW>();
}

fn groups_and_what_is_left_over<const LANES: usize>() {
    use rev_cpu::steps::{Down, Steps, Visits};
    for cpu in cpus().iter().chain([&Cpu::new().lanes(false)]) {
        let lanes = *cpu != Cpu::new().lanes(false);
        // a few that are left over run one by one, more in lanes of their own
        let grouped = |n: usize| match n % LANES {
            _ if !lanes => 0,
            over if over * 8 < LANES => n - over,
            _ => n,
        };
        for n in [0usize, 1, 2, 3, 4, 5, 16, 31, 32, 33, 36, 64, 67, 200] {
            assert_eq!(
                visited::<LANES, _>(cpu, false, Up::new(3, 3 + n)),
                ((3..3 + n).collect(), grouped(n))
            );
            assert_eq!(
                visited::<LANES, _>(cpu, false, Down::new(3, 3 + n)),
                ((3..3 + n).collect(), grouped(n))
            );
            assert_eq!(visited::<LANES, _>(cpu, true, Up::new(3, 3 + n)), ((3..3 + n).collect(), 0));
            for (step, reversed) in [(1, true), (1, false), (3, true), (3, false)] {
                let steps = Steps::new(0usize, n, false, step, false, reversed).unwrap();
                let expected: Vec<usize> = (0..n).step_by(step).collect();
                let count = grouped(Visits::count(steps));
                assert_eq!(visited::<LANES, _>(cpu, false, steps), (expected, count));
            }
        }
    }
}

#[test]
fn loop_variables_are_linear() {
    let i = Lin { first: 250u8, step: 3 };
    assert_eq!(i.at(2), 0);
    assert_eq!(i.plus(6).at(0), 0);
    assert_eq!(i.minus(250).times(2), Lin { first: 0, step: 6 });
    let all = Lin { first: 5i32, step: -2 }.pack(Portable::<WIDTH>);
    assert_eq!(
        (0..WIDTH).map(|k| lanes::get(&all, k)).collect::<Vec<_>>(),
        (0..WIDTH as i32).map(|k| 5 - 2 * k).collect::<Vec<_>>()
    );
}

#[test]
fn an_instruction_set_that_is_not_there_is_an_error() {
    let lacking = Level::ALL.iter().filter(|level| !lanes::runs(**level));
    for level in lacking {
        let error = Cpu::new().isa(*level).unwrap_err().to_string();
        assert!(error.contains(&level.to_string()), "{error}");
    }
}

#[test]
fn the_body_of_groups_returns_its_errors() {
    for cpu in cpus() {
        let run = Run::new(cpu.options());
        let (groups, _) =
            lanes::split::<WIDTH, _, _>(run.context::<Restoring>(), false, Up::new(0usize, 4 * WIDTH));
        let mut seen = 0;
        let found: Result<(), usize> = vectorize!(groups, |_, groups| {
            groups.each(|_, i| {
                if i.first >= 2 * WIDTH {
                    return Err(i.first);
                }
                seen += 1;
                Ok(())
            })
        });
        assert_eq!((found, seen), (Err(2 * WIDTH), 2));
    }
}
