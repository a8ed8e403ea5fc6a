//! The adder of gates: all sums of five bits, there and back.
#![allow(clippy::unwrap_used)]

use rev_classics::adder;

fn bits<const N: usize>(number: usize) -> [bool; N] {
    std::array::from_fn(|i| number >> i & 1 == 1)
}

#[test]
fn all_sums_of_five_bits() {
    for (x, y) in (0..32).flat_map(|x| (0..32).map(move |y| (x, y))) {
        for start in [false, true] {
            let (mut a, mut b, mut overflow) = (bits::<5>(x), bits::<5>(y), start);
            adder::add(&mut a, &mut b, &mut overflow).unwrap();
            assert_eq!((a, b, overflow), (bits(x), bits(x + y), start ^ (x + y > 31)));
            assert_eq!(adder::plain::add(&bits::<5>(x), &bits::<5>(y)), (b.to_vec(), x + y > 31));
            adder::add::inverse(&mut a, &mut b, &mut overflow).unwrap();
            assert_eq!((a, b, overflow), (bits(x), bits(y), start));
        }
    }
}

#[test]
fn lengths_of_their_own() {
    let mut overflow = false;
    adder::add(&mut [], &mut [], &mut overflow).unwrap();
    assert!(!overflow);
    assert!(adder::add(&mut [true; 3], &mut [true; 2], &mut overflow).is_err());
}
