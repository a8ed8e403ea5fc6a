//! Maps against those of the standard library, and derivatives by what is under keys.
#![allow(clippy::unwrap_used, clippy::type_complexity, clippy::needless_range_loop)]

use approx::assert_abs_diff_eq;
use std::collections::BTreeMap;

use rev_algebra::map::Map;
use rev_core::error::Cause;
use rev_core::interp::Interpreter;
use rev_cpu::prelude::*;
use rev_cuda::Emulator;

fn devices() -> [Box<dyn Device>; 4] {
    [
        Box::new(Cpu::new()),
        Box::new(Cpu::new().checks(false)),
        Box::new(Cpu::new().threads(3)),
        Box::new(Interpreter::new()),
    ]
}

/// What is done to a map: 0 inserts the key, 1 removes it, 2 exchanges, 3 adds, 4 puts the entry of the key under the next one.
#[reversible]
fn script(m: &mut Map<i64, i64>, x: &mut [i64], ops: &[u8], keys: &[i64]) {
    for i in 0..ops.len() {
        match ops[i] {
            0 => m.insert(keys[i], &mut x[i]),
            1 => m.remove(keys[i], &mut x[i]),
            2 => m.exchange(keys[i], &mut x[i]),
            3 => m.add(keys[i], x[i]),
            _ => m.rename(keys[i], keys[i] + 1),
        }
    }
}

/// Numbers without a pattern.
fn noise(seed: &mut u64) -> u64 {
    *seed ^= *seed << 13;
    *seed ^= *seed >> 7;
    *seed ^= *seed << 17;
    *seed
}

/// A start, and what can be done from it, with what comes of it.
#[allow(clippy::type_complexity)]
fn random(
    seed: u64,
    n: usize,
) -> (BTreeMap<i64, i64>, Vec<i64>, Vec<u8>, Vec<i64>, BTreeMap<i64, i64>, Vec<i64>) {
    let mut seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1;
    let start: BTreeMap<i64, i64> = (0..noise(&mut seed) % 6)
        .map(|_| ((noise(&mut seed) % 19) as i64 - 9, noise(&mut seed) as i64))
        .collect();
    let (mut x, mut ops, mut keys, mut end, mut out) = (vec![], vec![], vec![], start.clone(), vec![]);
    while ops.len() < n {
        let (op, key, value) =
            (noise(&mut seed) % 5, (noise(&mut seed) % 19) as i64 - 9, noise(&mut seed) as i64);
        let there = end.contains_key(&key);
        let (given, left) = match op {
            0 if !there => {
                end.insert(key, value);
                (value, 0)
            }
            1 if there => (0, end.remove(&key).unwrap()),
            2 if there => (value, end.insert(key, value).unwrap()),
            3 if there => {
                end.entry(key).and_modify(|v| *v = v.wrapping_add(value));
                (value, value)
            }
            4 if there && !end.contains_key(&(key + 1)) => {
                let moved = end.remove(&key).unwrap();
                end.insert(key + 1, moved);
                (value, value)
            }
            _ => continue,
        };
        ops.push(op as u8);
        keys.push(key);
        x.push(given);
        out.push(left);
    }
    (start, x, ops, keys, end, out)
}

#[test]
fn a_map_does_what_that_of_the_standard_library_does_and_comes_back() {
    for seed in 1..30 {
        let (start, x, ops, keys, end, out) = random(seed, 40);
        for device in devices() {
            let (mut m, mut y) = (Map::with_entries(25, start.clone()), x.clone());
            script::run(&*device, &mut m, &mut y, &ops, &keys).unwrap();
            assert_eq!((&m, &y), (&Map::with_entries(25, end.clone()), &out), "{seed}");
            script::run_inverse(&*device, &mut m, &mut y, &ops, &keys).unwrap();
            assert_eq!((&m, &y), (&Map::with_entries(25, start.clone()), &x), "{seed}");
        }
    }
}

#[reversible]
fn once(m: &mut Map<u8, f64>, x: &mut f64, op: u8, key: u8) {
    match op {
        0 => m.insert(key, &mut x),
        1 => m.remove(key, &mut x),
        2 => m.exchange(key, &mut x),
        3 => m.add(key, x),
        4 => (&m).read(key, &mut x),
        5 => m.delete(key, 2.0),
        6 => m.put(key, 2.0),
        _ => m.rename(key, 9),
    }
}

#[test]
fn what_can_t_be_done_is_an_error_that_names_the_key() {
    let start: Map<u8, f64> = Map::with_entries(4, [(3, 1.0), (7, 2.0), (9, 4.0)]);
    for (k, device) in devices().into_iter().enumerate() {
        let checked = k != 1;
        let fails = |op, key, x: f64, name: &str| {
            let (mut m, mut x) = (start.clone(), x);
            let error = once::run(&*device, &mut m, &mut x, op, key).unwrap_err();
            match checked {
                true => assert!(error.to_string().contains(name), "{op} {key}: {error}"),
                false => {
                    assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{op} {key}: {error}")
                }
            }
        };
        for key in [0, 4, 10, 255] {
            for op in [1, 2, 3, 4, 5, 7] {
                fails(op, key, 0.0, &format!("missing_key = {key}"));
            }
        }
        for key in [3, 7, 9] {
            fails(0, key, 1.0, &format!("key_that_is_there = {key}"));
            fails(6, key, 1.0, &format!("key_that_is_there = {key}"));
        }
        fails(7, 3, 0.0, "key_that_is_there = 9");
        let mut full: Map<u8, f64> = Map::with_entries(2, [(3, 1.0), (5, 2.0)]);
        for key in [1, 4, 9] {
            let error = once::run(&*device, &mut full.clone(), &mut 1.0, 0, key).unwrap_err();
            match checked {
                true => assert!(error.to_string().contains(&format!("key_without_room = {key}")), "{error}"),
                false => assert!(matches!(error.cause(), Cause::IndexOutOfRange { .. }), "{error}"),
            }
        }
        once::run(&*device, &mut full, &mut 1.0, 2, 5).unwrap();
        let mut m = start.clone();
        let error = once::run(&*device, &mut m, &mut 5.0, 1, 3);
        assert!(!checked || error.unwrap_err().to_string().contains("left_in_x"));
        let error = once::run(&*device, &mut start.clone(), &mut 0.0, 5, 9);
        assert!(!checked || error.unwrap_err().to_string().contains("released"));
        once::run(&*device, &mut start.clone(), &mut 0.0, 5, 7).unwrap();
    }
}

/// `y` gets a cubic of what comes through a map.
#[reversible(tangent)]
fn cubic<T: Real>(y: &mut T, m: &mut Map<i32, T>, x: &[T], scale: T) {
    for i in 0..x.len() {
        m.put((7 * i % 5) as i32, x[i] * x[i]);
    }
    m.add(2, scale * x[0]);
    m.rename(-3, 11);
    let mut moved = T::zero();
    m.remove(11, &mut moved);
    *y += moved * moved * scale;
    m.exchange(4, &mut moved);
    *y += moved.sin();
    m.insert(20, &mut moved);
    for i in 0..m.len {
        *y += m.values[i] * (m.keys[i] as T);
    }
    release(moved);
}

fn cubic_plainly(m: &[(i32, f64)], x: &[f64], scale: f64) -> f64 {
    let mut m: BTreeMap<i32, f64> = m.iter().copied().collect();
    for (i, x) in x.iter().enumerate() {
        m.insert((7 * i % 5) as i32, x * x);
    }
    *m.get_mut(&2).unwrap() += scale * x[0];
    let mut moved = m.remove(&-3).unwrap();
    let mut y = moved * moved * scale;
    moved = m.insert(4, moved).unwrap();
    y += moved.sin();
    m.insert(20, moved);
    y + m.iter().map(|(k, v)| f64::from(*k) * v).sum::<f64>()
}

#[test]
fn gradients_and_tangents_by_what_is_under_keys() {
    let (entries, x, scale) = ([(-3, 0.75), (8, -0.5)], [0.5, -1.25, 2.0, 0.25, 1.5], 0.5);
    let m: Map<i32, f64> = Map::with_entries(9, entries);
    let h = 1e-6;
    let slope = |change: &dyn Fn(&mut [(i32, f64)], &mut [f64], &mut f64, f64)| {
        let at = |h| {
            let (mut entries, mut x, mut scale) = (entries, x, scale);
            change(&mut entries, &mut x, &mut scale, h);
            cubic_plainly(&entries, &x, scale)
        };
        (at(h) - at(-h)) / (2.0 * h)
    };
    let close = |a: f64, b: f64| assert_abs_diff_eq!(a, b, epsilon = 1e-7);
    for device in devices() {
        let g = cubic::gradient(&*device, &m, &x, scale).unwrap();
        close(g.value, cubic_plainly(&entries, &x, scale));
        close(g.scale, slope(&|_, _, scale, h| *scale += h));
        for i in 0..5 {
            close(g.x[i], slope(&|_, x, _, h| x[i] += h));
        }
        // in the order of the keys
        for k in 0..2 {
            close(g.m.values[k].get(), slope(&|m, _, _, h| m[k].1 += h));
        }
        let mut direction = m.clone();
        direction.values[..2].copy_from_slice(&[0.5, -2.0]);
        let d = cubic::jvp(&*device, &0.0, &direction, &[1.0; 5], 3.0, &0.0, &m, &x, scale).unwrap();
        let along = |m: &mut [(i32, f64)], x: &mut [f64], scale: &mut f64, h: f64| {
            m[0].1 += 0.5 * h;
            m[1].1 -= 2.0 * h;
            x.iter_mut().for_each(|x| *x += h);
            *scale += 3.0 * h;
        };
        close(d.y_dot, slope(&along));
        let back = cubic::check_inverse(&*device, &0.0, &m, &x, scale).unwrap();
        assert!(back.passed(), "{back}");
    }
}

/// A sparse product, in parallel, and a map of each iteration's own.
#[reversible]
fn products<T: Real>(y: &mut [T], weights: &Map<u32, T>, x: &[T]) {
    for i in par(0..y.len()) {
        let mut w = T::zero();
        (&weights).read((i % 3) as u32, &mut w);
        y[i] += w * x[i];
        let mut own = zeros_like(weights);
        own.put(5, x[i]);
        own.put(1, w);
        y[i] += own.values[0] * own.values[0] * own.values[1];
        own.delete(1, w);
        own.delete(5, x[i]);
    }
}

#[test]
fn maps_in_parallel_loops() {
    let x: Vec<f64> = (0..700).map(|i| (f64::from(i) * 0.37).sin()).collect();
    let w: Map<u32, f64> = Map::with_entries(3, [(0, 0.5), (1, -1.5), (2, 2.0)]);
    for device in devices() {
        let v = products::vjp(&*device, &vec![1.0; 700], &vec![0.0; 700], &w, &x).unwrap();
        let mut slopes = [0.0; 3];
        for i in 0..700 {
            let w = *w.get(i % 3).unwrap();
            let x = x[i as usize];
            assert_abs_diff_eq!(v.y[i as usize], w * x + w * w * x, epsilon = 1e-12);
            assert_abs_diff_eq!(v.x_bar[i as usize], w + w * w, epsilon = 1e-12);
            slopes[(i % 3) as usize] += x + 2.0 * w * x;
        }
        for k in 0..3 {
            assert_abs_diff_eq!(v.weights_bar.values[k].get(), slopes[k], epsilon = 1e-10);
        }
    }
}

#[test]
fn a_gpu_says_that_it_takes_no_map() {
    let mut m: Map<u8, f64> = Map::with_entries(2, [(3, 1.0)]);
    let error = once::run(&Emulator::new(), &mut m, &mut 0.0, 3, 3).unwrap_err();
    assert!(error.to_string().contains("holds arrays or stacks"), "{error}");
}
