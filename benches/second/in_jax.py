"""Times of the benchmarks `second_*` in JAX: the same programs on the same numbers, in double precision, one thread.

Reads the programs as JSON from stdin and writes a list of names with times in seconds, the processor's time of the process.
Each product of the Hessian has to be the one that was read, up to 1e-9 of its largest number.
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
from jax.scipy.special import logsumexp  # noqa: E402

jax.config.update("jax_enable_x64", True)

SIDES = 8
# the least time that is taken at once; shorter works are repeated
SLICE = 1e-3


def gmm(arguments):
    """The log-posterior of a mixture as ADBench defines it, less what doesn't depend on the parameters."""
    points = arguments["points"]
    n, d = points.shape
    # the strict lower triangle by column
    below = [(r, j) for j in range(d) for r in range(j + 1, d)]
    row, column = (jnp.array([pair[k] for pair in below], dtype=int) for k in range(2))

    def loss(alphas, means, icf):
        q, lower = icf[:, :d], icf[:, d:]
        factor = jnp.zeros((len(alphas), d, d)).at[:, row, column].set(lower)
        factor = factor + jnp.exp(q)[:, :, None] * jnp.eye(d)
        z = jnp.einsum("kij,knj->kni", factor, points[None] - means[:, None])
        terms = (alphas + q.sum(1))[:, None] - 0.5 * (z * z).sum(2)
        prior = 0.5 * (jnp.exp(q) ** 2).sum() + 0.5 * (lower**2).sum()
        return logsumexp(terms, axis=0).sum() - n * logsumexp(alphas) + prior

    return loss, [arguments[name] for name in ("alphas", "means", "icf")]


def rotate(r, v):
    """Rodrigues' formula, for an angle of at least 2^-30."""
    rest = 2.0**-60
    square = (r * r).sum(1)
    theta = jnp.sqrt(jnp.where(square < rest, rest, square))[:, None]
    w = r / theta
    along = (w * v).sum(1, keepdims=True) * (1.0 - jnp.cos(theta))
    return v * jnp.cos(theta) + jnp.cross(w, v) * jnp.sin(theta) + w * along


def ba(arguments):
    camera_of, point_of = arguments["camera_of"], arguments["point_of"]
    features = arguments["features"]

    def loss(cameras, points, weights):
        c, x = cameras[camera_of], points[point_of]
        seen = rotate(c[:, :3], x - c[:, 3:6])
        u = seen[:, :2] / seen[:, 2:]
        square = (u * u).sum(1)
        scale = c[:, 6] * (1.0 + square * (c[:, 9] + square * c[:, 10]))
        e = weights[:, None] * (scale[:, None] * u + c[:, 7:9] - features)
        return 0.5 * ((e * e).sum() + ((1.0 - weights * weights) ** 2).sum())

    return loss, [arguments[name] for name in ("cameras", "points", "weights")]


def kmeans(arguments):
    points = arguments["points"]

    def loss(centroids):
        return ((points[:, None] - centroids[None]) ** 2).sum(2).min(1).sum()

    return loss, [arguments["centroids"]]


def embedding(arguments):
    a, b, near = arguments["a"], arguments["b"], int(arguments["near"])

    def loss(x):
        length = ((x[a] - x[b]) ** 2).sum(1)
        edges, others = length[:near], length[near:]
        apart = edges.mean() - others.mean() + 0.1
        return edges.var() + others.var() + jnp.exp(jnp.maximum(apart, 0.0)) - 1.0

    return loss, [arguments["x"]]


def bessel(arguments):
    def loss(z):
        square = 0.25 * z * z
        term = 0.5 * square
        total = term
        for k in range(1, 8):
            term = term * (-square / (k * (k + 2)))
            total = total + term
        return total.sum()

    return loss, [arguments["z"]]


def seconds(work, rounds):
    """The shortest time of a compiled work."""

    def once(repeat):
        start = time.process_time()
        for _ in range(repeat):
            jax.block_until_ready(work())
        return (time.process_time() - start) / repeat

    jax.block_until_ready(work())
    repeat = max(1, int(SLICE / max(once(1), 1e-9)) + 1)
    return min(once(repeat) for _ in range(rounds))


def measured(program, rounds):
    arguments = {name: jnp.asarray(value) for name, value in program["arguments"].items()}
    kinds = {"gmm": gmm, "ba": ba, "kmeans": kmeans, "embedding": embedding, "bessel": bessel}
    loss, x = kinds[program["kind"]](arguments)
    v, first = [], 0
    for part in x:
        v.append(jnp.sin(0.7 * jnp.arange(first, first + part.size)).reshape(part.shape))
        first += part.size
    sides = [jnp.stack([part * (k + 1) for k in range(SIDES)]) for part in v]
    gradient = jax.grad(loss, argnums=tuple(range(len(x))))

    def hvp(x, v):
        return jax.jvp(gradient, tuple(x), tuple(v))[1]

    # arguments that aren't closed over: what is constant would be computed when it is compiled
    value_at, gradient_at, hvp_at = jax.jit(loss), jax.jit(gradient), jax.jit(hvp)
    jvp_at = jax.jit(lambda x, v: jax.jvp(loss, tuple(x), tuple(v)))
    jvp_8_at = jax.jit(lambda x, v: jax.vmap(lambda v: jax.jvp(loss, tuple(x), tuple(v)))(v))
    hvp_8_at = jax.jit(lambda x, v: jax.vmap(lambda v: hvp(x, v))(v))
    found = jnp.concatenate([part.ravel() for part in hvp_at(x, v)])
    expected = jnp.asarray(program["hvp"])
    off = float(jnp.abs(found - expected).max() / jnp.abs(expected).max())
    if not off <= 1e-9:
        sys.exit(f"{program['name']}: the products of the Hessian are {off} apart")
    times = {
        "value": seconds(lambda: value_at(*x), rounds),
        "gradient": seconds(lambda: gradient_at(*x), rounds),
        "jvp": seconds(lambda: jvp_at(x, v), rounds),
        "jvp_8": seconds(lambda: jvp_8_at(x, sides), rounds),
        "hvp": seconds(lambda: hvp_at(x, v), rounds),
        "hvp_8": seconds(lambda: hvp_8_at(x, sides), rounds),
        "whole": None,
    }
    if program["kind"] == "embedding":
        hessian_at = jax.jit(jax.hessian(loss))
        times["whole"] = seconds(lambda: hessian_at(*x), rounds)
    if program["kind"] == "kmeans":
        ones = [jnp.ones_like(part) for part in x]

        def step(x):
            slope, diagonal = jax.jvp(gradient, tuple(x), tuple(ones))
            return slope[0] / diagonal[0]

        step_at = jax.jit(step)
        times["whole"] = seconds(lambda: step_at(x), rounds)
    return f"JAX, {program['name']}", times


if __name__ == "__main__":
    programs = json.load(sys.stdin)
    json.dump([measured(program, int(sys.argv[1])) for program in programs], sys.stdout)
