#!/usr/bin/env python3
"""Derives the constants of log-gamma and the polygamma functions, as pairs of f64.

    python3 scripts/math_gamma_numbers.py > rev-core/src/math/numbers/gamma.rs    (needs mpmath)

A series is a list of pairs, as many as count in the 106 bits of a pair, and a list of f64 after them.
"""
from mpmath import mp, mpf, bernoulli, factorial, log, pi, re, loggamma, digamma, polygamma, findroot

mp.prec = 400


def pair(x, parts=2):
    out = []
    for _ in range(parts):
        out.append(float(x))
        x -= mpf(out[-1])
    return '[' + ', '.join(repr(p) for p in out) + ']'


def short(x, bits=42):
    """x in three parts of which the first two have so many bits."""
    out = []
    for _ in range(2):
        e = mp.floor(log(abs(x), 2)) + 1
        p = mp.nint(x * mpf(2) ** (bits - e)) * mpf(2) ** (e - bits)
        out.append(repr(float(p)))
        x -= p
    return '[' + ', '.join(out + [repr(float(x))]) + ']'


def constant(name, what, value):
    size = value.count(',') + 1
    print(f'/// {what}')
    print(f'pub const {name}: [f64; {size}] = {value};')


def series(name, what, terms, exact):
    print(f'/// {what}')
    print(f'pub const {name}: Series<{exact}, {len(terms) - exact}> = Series {{')
    print('    pairs: [')
    for t in terms[:exact]:
        print(f'        {pair(t)},')
    print('    ],')
    print('    rest: [')
    for t in terms[exact:]:
        print(f'        {float(t)!r},')
    print('    ],')
    print('};')


def zero(x, slopes):
    """A zero and the Taylor series at it."""
    print('    Zero {')
    print(f'        at: {pair(x, 3)},')
    print(f'        slope: {pair(slopes[0])},')
    print('        rest: [' + ', '.join(repr(float(t)) for t in slopes[1:]) + '],')
    print('    },')


print('//! The constants of log-gamma and the polygamma functions, printed by')
print('//! `scripts/math_gamma_numbers.py`.')
print()
print('use super::{Series, Zero};')
print()
constant('LN_2', '`ln 2`; the first two parts times an exponent are exact.', short(log(2)))
constant('PI', '`π`', pair(pi))
constant('HALF_LN_TAU', '`½ ln 2π - ½`', pair(log(2 * pi) / 2 - mpf(1) / 2))
series('ARTANH', '`artanh √w/√w - 1` over `w`: `1/(2j + 1)`.', [mpf(1) / (2 * j + 1) for j in range(1, 21)], 10)
series('SIN', '`sin √w/√w - 1` over `w`.', [(-1) ** j / factorial(2 * j + 1) for j in range(1, 15)], 7)
series('COS', '`cos √w - 1` over `w`.', [(-1) ** j / factorial(2 * j) for j in range(1, 16)], 8)
series('STIRLING', '`B₂ⱼ/(2j (2j - 1))`', [bernoulli(2 * j) / (2 * j * (2 * j - 1)) for j in range(1, 19)], 6)
series('DIGAMMA', '`B₂ⱼ/2j`', [bernoulli(2 * j) / (2 * j) for j in range(1, 21)], 7)
series('BERNOULLI', '`B₂ⱼ`', [bernoulli(2 * j) for j in range(1, 23)], 9)
print('/// The zeros of log-gamma down to -4, and the Taylor series there.')
print('pub const LN_GAMMA_ZEROS: [Zero; 6] = [')
for start in ('1', '2', '-2.457', '-2.748', '-3.1436', '-3.9553'):
    x = findroot(lambda x: re(loggamma(x)), mpf(start)) if '.' in start else mpf(start)
    zero(x, [polygamma(j, x) / factorial(j + 1) for j in range(4)])
print('];')
print('/// The zero of digamma between 1 and 2, and the Taylor series there.')
print('pub const DIGAMMA_ZEROS: [Zero; 1] = [')
x = findroot(digamma, mpf('1.4616'))
zero(x, [polygamma(j, x) / factorial(j) for j in range(1, 5)])
print('];')
