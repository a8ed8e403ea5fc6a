//! Exact integer programs: values against plain Rust, and the arguments back bit for bit.
#![allow(clippy::unwrap_used)]

use rev_classics::{factors, feistel, permutation, root, run_length, xtea};
use rev_cpu::prelude::*;

/// Numbers of a linear congruential generator.
fn numbers(seed: u64) -> impl Iterator<Item = u64> {
    std::iter::successors(Some(seed), |x| {
        Some(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407))
    })
    .skip(1)
}

#[test]
fn roots() {
    let edges = (0..20).map(|k| k * k).flat_map(|square: u64| [square, square + 1, (square + 10) / 2]);
    let large = [u64::MAX, (1 << 62) - 1, 1 << 62, 4_294_967_295 * 4_294_967_295];
    for number in edges.chain(large).chain(numbers(5).take(100)) {
        let (mut rest, mut found) = (number, 0);
        root::square_root(&mut rest, &mut found).unwrap();
        assert_eq!((found, rest), root::plain::square_root(number));
        root::square_root::inverse(&mut rest, &mut found).unwrap();
        assert_eq!((rest, found), (number, 0));
    }
    // the root has to start at zero
    assert!(root::square_root(&mut 100, &mut 3).is_err());
}

#[test]
fn prime_factors() {
    let products = [2 * 3 * 5 * 7 * 11 * 13 * 17 * 19, 1 << 63, 9_999_991 * 9_999_973, 1_000_003 * 1_000_003];
    for number in (0..2000).chain(products).chain(numbers(3).take(50).map(|x| x >> 30)) {
        let (mut rest, mut found, mut count) = (number, [0; 63], 0);
        factors::factor(&mut rest, &mut found, &mut count).unwrap();
        assert_eq!(found[..count], factors::plain::factor(number));
        assert_eq!(rest, number.min(1));
        factors::factor::inverse(&mut rest, &mut found, &mut count).unwrap();
        assert_eq!((rest, found, count), (number, [0; 63], 0));
    }
}

#[test]
fn factors_that_cannot_be() {
    // too little room
    assert!(factors::factor(&mut 64, &mut [0; 3], &mut 0).is_err());
    // not ascending, not prime
    for wrong in [[3, 2], [2, 9]] {
        let error = factors::factor::inverse(&mut 1, &mut wrong.clone(), &mut 2).unwrap_err().to_string();
        assert!(error.contains("factor"), "{error}");
    }
}

#[test]
fn runs_of_a_text() {
    let texts =
        [vec![], vec![0], vec![4, 4, 4], vec![1, 2, 3], numbers(9).take(200).map(|x| x >> 63).collect()];
    for text in texts {
        let n = text.len();
        let (mut rest, mut values, mut lengths, mut runs) = (text.clone(), vec![0; n], vec![0; n], 0);
        run_length::encode(&mut rest, &mut values, &mut lengths, &mut runs).unwrap();
        let code: Vec<_> = values.iter().copied().zip(lengths.iter().copied()).take(runs).collect();
        assert_eq!(code, run_length::plain::encode(&text));
        assert_eq!(run_length::plain::decode(&code), text);
        assert_eq!(rest, vec![0; n]);
        run_length::encode::inverse(&mut rest, &mut values, &mut lengths, &mut runs).unwrap();
        assert_eq!((rest, values, lengths, runs), (text, vec![0; n], vec![0; n], 0));
    }
}

#[test]
fn runs_that_no_text_has() {
    let decode = |values: [u8; 2], lengths: [usize; 2], length| {
        let (mut values, mut lengths, mut runs) = (values, lengths, 2);
        run_length::encode::inverse(&mut vec![0; length], &mut values, &mut lengths, &mut runs)
    };
    decode([1, 2], [2, 3], 5).unwrap();
    assert!(decode([1, 1], [2, 3], 5).is_err(), "runs that are one");
    assert!(decode([1, 2], [2, 0], 2).is_err(), "an empty run");
    assert!(decode([1, 2], [2, 3], 4).is_err(), "too long");
    assert!(decode([1, 2], [2, 3], 6).is_err(), "too short");
}

#[test]
fn all_permutations_of_five() {
    let mut seen = [false; 120];
    for number in 0..120 {
        // a number makes a permutation by the inverses
        let (mut rest, mut x) = (number, [0u64; 5]);
        permutation::to_number::inverse(&mut rest, &mut x).unwrap();
        assert_eq!((rest, permutation::plain::to_number(&x)), (0, number));
        let code = x;
        permutation::to_code::inverse(&mut x).unwrap();
        assert_eq!(permutation::plain::to_code(&x).as_slice(), code);
        let mut sorted = x;
        sorted.sort_unstable();
        assert_eq!(sorted, [0, 1, 2, 3, 4]);
        permutation::to_code(&mut x).unwrap();
        permutation::to_number(&mut rest, &mut x).unwrap();
        assert_eq!((rest, x), (number, [0; 5]));
        seen[number as usize] = true;
    }
    assert!(seen.iter().all(|s| *s));
}

#[test]
fn what_is_no_permutation() {
    assert!(permutation::to_code(&mut [0, 2, 2]).is_err());
    assert!(permutation::to_number(&mut 0, &mut [0, 2]).is_err());
    // the largest number of 20 digits, and too many of them
    let mut x: Vec<u64> = (0..20).rev().collect();
    let mut number = 0;
    permutation::to_code(&mut x).unwrap();
    permutation::to_number(&mut number, &mut x).unwrap();
    assert_eq!(number, 0);
    let mut x: Vec<u64> = (0..20).collect();
    permutation::to_number(&mut number, &mut x).unwrap();
    assert_eq!(number, (1..=20).product::<u64>() - 1);
    let mut x: Vec<u64> = (0..30).collect();
    assert!(permutation::to_number(&mut 0, &mut x).is_err());
}

fn words<const N: usize>(bytes: &str) -> [u32; N] {
    std::array::from_fn(|i| u32::from_str_radix(&bytes[8 * i..8 * i + 8], 16).unwrap())
}

#[test]
fn xtea_as_published() {
    let vectors = [
        ("000102030405060708090a0b0c0d0e0f", "4142434445464748", "497df3d072612cb5"),
        ("000102030405060708090a0b0c0d0e0f", "4141414141414141", "e78f2d13744341d8"),
        ("000102030405060708090a0b0c0d0e0f", "5a5b6e278948d77f", "4141414141414141"),
        ("00000000000000000000000000000000", "4142434445464748", "a0390589f8b8efa5"),
        ("00000000000000000000000000000000", "4141414141414141", "ed23375a821a8c2d"),
        ("00000000000000000000000000000000", "70e1225d6e4e7655", "4141414141414141"),
    ];
    for (key, text, cipher) in vectors {
        let (key, text, cipher) = (words(key), words(text), words(cipher));
        assert_eq!(xtea::plain::encipher(text, key), cipher);
        assert_eq!(xtea::plain::decipher(cipher, key), text);
        let mut block = text;
        xtea::encipher(&mut block, &key).unwrap();
        assert_eq!(block, cipher);
        xtea::encipher::inverse(&mut block, &key).unwrap();
        assert_eq!(block, text);
        // the network with the cipher's rounds is the cipher
        let [mut left, mut right] = text;
        let keys = xtea::plain::schedule(key);
        feistel::feistel(&mut left, &mut right, &keys, feistel::xtea_round {}).unwrap();
        assert_eq!([left, right], cipher);
        feistel::feistel::inverse(&mut left, &mut right, &keys, feistel::xtea_round {}).unwrap();
        assert_eq!([left, right], text);
    }
}

#[test]
fn many_blocks_on_threads() {
    let blocks: Vec<[u32; 2]> = numbers(1).take(10_000).map(|x| [x as u32, (x >> 32) as u32]).collect();
    let key = [0x0123_4567, 0x89ab_cdef, 0xfedc_ba98, 0x7654_3210];
    let mut found = blocks.clone();
    xtea::encipher_each::run(&Cpu::with_threads(2), &mut found, &key).unwrap();
    assert!(found.iter().zip(&blocks).all(|(found, block)| *found == xtea::plain::encipher(*block, key)));
    xtea::encipher_each::run_inverse(&Cpu::with_threads(2), &mut found, &key).unwrap();
    assert_eq!(found, blocks);
}

/// A round that nobody could invert by itself.
#[reversible]
fn square_round(half: &mut u64, other: &u64, key: &u64) {
    *half ^= (*other + *key) * (*other + *key);
}

#[test]
fn a_network_of_squares() {
    let keys: Vec<u64> = numbers(2).take(11).collect();
    let (mut left, mut right) = (123, 456);
    feistel::feistel(&mut left, &mut right, &keys, square_round {}).unwrap();
    let square = |half: u64, other: u64, key: u64| half ^ other.wrapping_add(key).wrapping_pow(2);
    assert_eq!([left, right], feistel::plain::feistel([123, 456], &keys, square));
    feistel::feistel::inverse(&mut left, &mut right, &keys, square_round {}).unwrap();
    assert_eq!((left, right), (123, 456));
}
