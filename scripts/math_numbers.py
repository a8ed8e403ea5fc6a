#!/usr/bin/env python3
"""Derives the constants of rev-core/src/math/numbers/tables.rs and prints that file's tables.

    python3 scripts/math_numbers.py > rev-core/src/math/numbers/tables.rs    (needs mpmath; a minute)

Polynomials are minimax approximations by the exchange algorithm of Remez (1934), weighted so that
the error is relative to the function's result. The errors printed are those of the rounded coefficients.
"""
import sys
from mpmath import mp, mpf, matrix, lu_solve, log, exp, sin, cos, sinh, cosh, atan, asin, sqrt, pi, cot, erf, erfc, floor, frexp, ldexp

mp.prec = 400


def rounded(x, bits):
    """x rounded to so many significant bits."""
    x = mpf(x)
    if x == 0:
        return x
    m, e = frexp(x)
    return ldexp(mp.nint(ldexp(m, bits)), e - bits)


def remez(g, weight, a, b, n):
    """n coefficients of a polynomial near g on [a, b]."""
    grid = [a + (b - a) * (1 - cos(pi * i / 300)) / 2 for i in range(301)]
    target = [(g(z), weight(z)) for z in grid]
    points = [round(300 * i / n) for i in range(n + 1)]
    for _ in range(15):
        A = matrix(n + 1, n + 1)
        y = matrix(n + 1, 1)
        for row, p in enumerate(points):
            for j in range(n):
                A[row, j] = grid[p] ** j
            A[row, n] = (-1) ** row / target[p][1]
            y[row] = target[p][0]
        c = list(lu_solve(A, y))
        error = [(v - horner(c[:n], z)) * w for z, (v, w) in zip(grid, target)]
        # the largest error of every run of one sign, no more of them than needed
        extrema = []
        for i, e in enumerate(error):
            if extrema and (error[extrema[-1]] > 0) == (e > 0):
                if abs(e) > abs(error[extrema[-1]]):
                    extrema[-1] = i
            elif e != 0:
                extrema.append(i)
        while len(extrema) > n + 1:
            extrema.pop(0 if abs(error[extrema[0]]) < abs(error[extrema[-1]]) else -1)
        if len(extrema) < n + 1 or extrema == points:
            break
        points = extrema
    return c[:n]


def horner(c, z):
    v = mpf(0)
    for x in reversed(list(c)):
        v = v * z + x
    return v


def polynomial(g, weight, a, b, bits, target):
    """The shortest polynomial with an error below 2**-target, its coefficients rounded, and their error."""
    a, b = mpf(a), mpf(b)
    mp.prec = 200
    for n in range(2, 26):
        c = remez(g, weight, a, b, n)
        points = [a + (b - a) * i / 997 for i in range(998)]
        if max(abs(g(z) - horner(c, z)) * weight(z) for z in points) < mpf(2) ** -target:
            break
    c = [rounded(x, bits) for x in c]
    return c, max(abs(g(z) - horner(c, z)) * weight(z) for z in points)


def atanh2(s):
    return log((1 + s) / (1 - s))


def polynomials(bits):
    """name, what it approximates, coefficients, error."""
    w = lambda g: (lambda z: g(sqrt(z)))
    top = mpf('0.0295')
    near = mpf('1e-5')
    quarter = mpf('0.6202')
    # from 1/2 on; x of q = (x - 7/2)/(x + 7/2)
    tail = lambda q: mpf('3.5') * (1 + q) / (1 - q)
    scaled = lambda x: (1 + 2 * x) * exp(x * x) * erfc(x)
    rows = [
        ('exp', 'r²·p(r) = eʳ - 1 - r for |r| ≤ 0.3475, relative to r', lambda r: (exp(r) - 1 - r) / r**2 if abs(r) > 1e-15 else mpf(1) / 2, lambda r: max(abs(r), mpf('0.03')), '-0.3475', '0.3475', 6),
        ('ln', 's·w·p(w) = 2 artanh(s) - 2s for w = s² ≤ 0.0295', w(lambda s: (atanh2(s) / s - 2) / s**2), lambda z: z / 2, near, top, 6),
        ('ln_tail', 's·w²·p(w) = 2 artanh(s) - 2s - 2s³/3', w(lambda s: (atanh2(s) / s - 2 - 2 * s**2 / 3) / s**4), lambda z: z * z / 2, near, top, 14),
        ('sin', 'r·z·p(z) = sin(r) - r for z = r² ≤ 0.6202', w(lambda r: (sin(r) - r) / r**3), lambda z: z, near, quarter, 6),
        ('cos', 'z²·p(z) = cos(r) - 1 + z/2', w(lambda r: (cos(r) - 1 + r**2 / 2) / r**4), lambda z: z * z, near, quarter, 6),
        ('atan', 't·z·p(z) = atan(t) - t for z = t² ≤ 0.1716', w(lambda t: (atan(t) - t) / t**3), lambda z: z, near, '0.17165', 6),
        ('asin', 'x·z·p(z) = asin(x) - x for z = x² ≤ 1/4', w(lambda x: (asin(x) - x) / x**3), lambda z: z, near, '0.25001', 6),
        ('sinh', 'r·z·p(z) = sinh(r) - r for z = r² ≤ 0.1208', w(lambda r: (sinh(r) - r) / r**3), lambda z: z, near, '0.1208', 6),
        ('cosh', 'z·p(z) = cosh(r) - 1', w(lambda r: (cosh(r) - 1) / r**2), lambda z: z, near, '0.1208', 6),
        ('erf', 'x·p(z) = erf(x) - x for z = x² ≤ 1/4', w(lambda x: erf(x) / x - 1), lambda z: 1, near, '0.25001', 4),
        ('erfc', 'p(q) = (1 + 2x) exp(x²) erfc(x) - 1 for q = (x - 7/2)/(x + 7/2) and 1/2 ≤ x ≤ 28', lambda q: scaled(tail(q)) - 1, lambda q: 1, '-0.7501', '0.778', 4),
    ]
    for name, what, g, weight, a, b, spare in rows:
        mp.prec = 400
        c, error = polynomial(g, weight, a, b, bits, bits + spare)
        yield name, what, c, error
        mp.prec = 400


def literal(x):
    f = float(x)
    assert mpf(f) == x, x
    return repr(f)


def parts(x, sizes, bits):
    """x as a sum of floats, each with so many bits."""
    out = []
    for size in sizes:
        p = rounded(x, size)
        out.append(p)
        x -= p
    return '[' + ', '.join(literal(p) for p in out) + ']'


def words(width, count):
    """The binary digits of 2/pi in words, after one word of zeros."""
    mp.prec = width * count + 64
    x = 2 / pi
    out = ['0']
    for _ in range(count - 1):
        x *= mpf(2) ** width
        w = int(floor(x))
        x -= w
        out.append(f'0x{w:0{width // 4}x}')
    mp.prec = 400
    return out


def table(name, width, mantissa, short, direct, low, high, count):
    bits = mantissa + 1
    bias = 2 ** (width - mantissa - 2) - 1
    print(f'/// The constants of `f{width}`.')
    print(f'pub static {name}: Numbers = Numbers {{')
    print(f'    width: {width},')
    print(f'    mantissa: {mantissa},')
    print(f'    bias: {bias},')
    print(f'    magic: {literal(mpf(3) * 2**mantissa / 2)},')
    print(f'    smallest_normal: {literal(mpf(2) ** (1 - bias))},')
    print(f'    exp_range: [{low}, {high}],')
    print(f'    log2_e: {parts(1 / log(2), [bits, bits], bits)},')
    print(f'    log10_e: {parts(1 / log(10), [bits, bits], bits)},')
    print(f'    ln_2: {parts(log(2), [short, bits], bits)},')
    print(f'    log10_2: {parts(log(2) / log(10), [short, bits], bits)},')
    print(f'    two_thirds: {parts(mpf(2) / 3, [bits, bits], bits)},')
    print(f'    two_over_pi: {literal(rounded(2 / pi, bits))},')
    print(f'    half_pi: {parts(pi / 2, [bits, bits, bits], bits)},')
    print(f'    direct: {direct},')
    print(f'    tan_pi_8: {literal(rounded(sqrt(mpf(2)) - 1, bits))},')
    for poly, what, c, error in polynomials(bits):
        print(f'    // {what}; error 2^{float(log(error, 2)):.1f}')
        print(f'    {poly}: &[')
        for x in c:
            print(f'        {literal(x)},')
        print('    ],')
    print(f'    two_over_pi_words: &[')
    for w in words(width, count):
        print(f'        {w},')
    print('    ],')
    print('};')


print('//! The two sets of constants, printed by `scripts/math_numbers.py`.')
print()
print('use super::Numbers;')
print()
table('DOUBLE', 64, 52, 42, '1073741824.0', '-760.0', '720.0', 20)
print()
table('SINGLE', 32, 23, 16, '16384.0', '-110.0', '95.0', 8)
