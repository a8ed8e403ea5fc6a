#!/usr/bin/env python3
"""The errors of log-gamma and the polygamma functions against mpmath, in ulps.

    cargo run --release -p rev-core --example gamma_values | python3 scripts/math_gamma.py
"""
import struct
import sys
from mpmath import mp, mpf, loggamma, polygamma, frexp, re

mp.prec = 160
worst = {}
for line in sys.stdin:
    name, order, x, y = line.split()
    x, y = (struct.unpack('>d', bytes.fromhex(v))[0] for v in (x, y))
    exact = re(loggamma(mpf(x))) if name == 'ln_gamma' else polygamma(int(order), mpf(x))
    unit = mpf(2) ** max(frexp(exact)[1] - 53, -1074)
    error = float(abs(mpf(y) - exact) / unit)
    key = (name, order, 'negative' if x < 0 else 'positive')
    count, most, where = worst.get(key, (0, 0.0, 0.0))
    worst[key] = (count + 1, max(error, most), x if error > most else where)
for (name, order, sign), (count, error, x) in sorted(worst.items()):
    print(f'| {name} {order} | {sign} | {count} | {error:.2f} | {x!r} |')
