//! Fibonacci numbers three ways: by recursion, by a search with a reversible `while`, and the
//! papers' recursion with a loop inside.

use rev_cpu::prelude::*;

/// `out +=` the `n`-th Fibonacci number, by recursion (1 for `n ≤ 2`).
#[reversible]
pub fn fibonacci(out: &mut i64, n: i64) {
    if n <= 2 {
        *out += 1;
    } else {
        fibonacci(&mut *out, n - 1);
        fibonacci(&mut *out, n - 2);
    }
}

/// `n +=` the least index whose Fibonacci number is at least `bound ≥ 1`.
#[reversible]
pub fn first_at_least(n: &mut i64, bound: i64) {
    let mut index: i64 = 0;
    let mut number: i64 = 0;
    let mut next: i64 = 1;
    #[post(index != 0)]
    while number < bound {
        number += next;
        swap(number, next);
        inc(index);
    }
    *n += index;
}

/// `out +=` the papers' recursion with a loop inside, [`plain::by_odd_steps`].
#[reversible]
pub fn by_odd_steps(out: &mut i64, n: i64) {
    if n >= 1 {
        let mut counter: i64 = 0;
        counter += n;
        #[post(counter != n)]
        while counter > 1 {
            by_odd_steps(&mut *out, counter - 1);
            counter -= 2;
        }
    }
    *out += 1;
}

/// The same as plain Rust.
pub mod plain {
    /// The `n`-th Fibonacci number, 1 for `n ≤ 2`.
    pub fn fibonacci(n: u64) -> u64 {
        if n <= 2 {
            1
        } else {
            fibonacci(n - 1) + fibonacci(n - 2)
        }
    }

    /// The least `n` whose Fibonacci number is at least `bound`.
    pub fn first_at_least(bound: u64) -> u64 {
        (1..).find(|&n| fibonacci(n) >= bound).unwrap_or(u64::MAX)
    }

    /// The papers' recursion: `1 + f(n-1) + f(n-3) + …` as long as the argument stays above 1,
    /// which is again a Fibonacci number, `F(n + 1)`.
    pub fn by_odd_steps(n: i64) -> i64 {
        let mut sum = 1;
        let mut counter = n;
        while counter > 1 {
            sum += by_odd_steps(counter - 1);
            counter -= 2;
        }
        sum
    }
}

#[cfg(test)]
mod tests {
    use super::plain::*;

    #[test]
    fn numbers_of_the_papers() {
        assert_eq!((fibonacci(6), fibonacci(10)), (8, 55));
        assert_eq!(first_at_least(100), 12);
        let numbers: Vec<i64> = (0..9).map(by_odd_steps).collect();
        assert_eq!(numbers, [1, 1, 2, 3, 5, 8, 13, 21, 34]);
    }
}
