"""The gradient that `seismic --speed --jax PYTHON` times, in JAX, in double precision, one thread.

Reads lines of JSON. A problem is answered by null, or by what differs from the results that came with it; null is
answered by the seconds that a step and a gradient take.
"""

import json
import os
import sys
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402
from jax import lax  # noqa: E402

jax.config.update("jax_enable_x64", True)

# how many times a step is repeated at once
STEPS = 5


def sides(a, axis):
    """The neighbours before and after each cell, zero beyond the edges."""
    n, around = a.shape[axis], [(0, 0), (0, 0)]
    around[axis] = (1, 1)
    wide = jnp.pad(a, around)
    return lax.slice_in_dim(wide, 0, n, axis=axis), lax.slice_in_dim(wide, 2, n + 2, axis=axis)


class Problem:
    def __init__(self, given):
        self.given = given
        cells, (n, m) = given["cells"], given["cells"]
        self.c = jnp.asarray(given["c"]).reshape(n, m)
        self.sigma, self.tau = jnp.asarray(given["sigma"])[:, None], jnp.asarray(given["tau"])[None, :]
        self.wavelet = jnp.asarray(given["wavelet"]).reshape(given["segments"], -1)
        self.heard_at = tuple(jnp.asarray(given["receivers"]).T)
        self.start = (jnp.zeros(cells),) * 4
        self.run = jax.jit(jax.value_and_grad(self.misfit))
        self.advance = jax.jit(lambda c, field: lax.fori_loop(0, STEPS, lambda _, f: self.step(c, f, 0.0), field))

    def step(self, c, field, amount):
        before, u, phi, psi = field
        dt, hx, hy = (self.given[name] for name in ("dt", "hx", "hy"))
        sigma, tau = self.sigma, self.tau
        x, y = (dt / hx) ** 2, (dt / hy) ** 2
        s = (sigma + tau) * dt / 2
        (up, down), (left, right) = sides(u, 0), sides(u, 1)
        (phi_up, phi_down), (psi_left, psi_right) = sides(phi, 0), sides(psi, 1)
        after = (
            (2 - sigma * tau * dt**2 - 2 * (x + y) * c) * u
            - (1 - s) * before
            + c * (x * (up + down) + y * (left + right))
            + dt**2 / (2 * hx) * (phi_down - phi_up)
            + dt**2 / (2 * hy) * (psi_right - psi_left)
        ) / (1 + s)
        (up, down), (left, right) = sides(after, 0), sides(after, 1)
        phi = (1 - dt * sigma) * phi + dt / (2 * hx) * c * (tau - sigma) * (down - up)
        psi = (1 - dt * tau) * psi + dt / (2 * hy) * c * (sigma - tau) * (right - left)
        return u, after.at[tuple(self.given["source"])].add(amount * dt**2), phi, psi

    def misfit(self, c):
        """Half the squares of what the receivers hear. The states between segments are kept, and those within one while it is
        gone through backwards."""

        def one(field, amount):
            field = self.step(c, field, amount)
            return field, jnp.sum(field[1][self.heard_at] ** 2) / 2

        segment = jax.checkpoint(lambda field, amounts: lax.scan(one, field, amounts))
        return jnp.sum(lax.scan(segment, self.start, self.wavelet)[1])

    def difference(self):
        """What is wrong with the results, as the distance from those of JAX."""
        value, gradient = self.run(self.c)
        for name, found in ("misfit", value), ("gradient", jnp.ravel(gradient)):
            expected = jnp.asarray(self.given[name])
            off = float(jnp.abs(found - expected).max() / jnp.abs(expected).max())
            if not off <= 1e-9:
                return f"the {name}s in JAX and here are {off} apart"
        return None

    def seconds(self):
        begun = time.perf_counter()
        jax.block_until_ready(self.advance(self.c, self.start))
        between = time.perf_counter()
        jax.block_until_ready(self.run(self.c))
        return [(between - begun) / STEPS, time.perf_counter() - between]


problem = None
for line in sys.stdin:
    given = json.loads(line)
    if given is None:
        answer = problem.seconds()
    else:
        problem = Problem(given)
        answer = problem.difference()
        problem.seconds()
    print(json.dumps(answer), flush=True)
