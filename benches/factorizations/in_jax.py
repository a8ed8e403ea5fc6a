"""The problems of the benchmark `factorizations` in JAX, in double precision, one thread.

Reads lines of JSON. A problem is answered by null, or by what differs from the results that came with it; null is
answered by the seconds that the problem's value and its gradient take, the processor's time of the process.
"""

import json
import os
import sys
import time

os.sched_setaffinity(0, {min(os.sched_getaffinity(0))})
os.environ["JAX_PLATFORMS"] = "cpu"
os.environ["OPENBLAS_NUM_THREADS"] = "1"
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import jax  # noqa: E402
import jax.numpy as jnp  # noqa: E402

jax.config.update("jax_enable_x64", True)

# the least time that is taken at once; shorter works are repeated
SLICE = 1e-3

FUNCTIONS = {
    "determinant": jnp.linalg.det,
    "its logarithm": lambda a: jnp.linalg.slogdet(a)[1],
    "inverse": jnp.linalg.inv,
    "linear system": jnp.linalg.solve,
    "Cholesky": jnp.linalg.cholesky,
}


def works(problem):
    """The value and the gradient, compiled, as functions without arguments."""
    kind, n = problem["kind"], problem["n"]
    a, seed = (jnp.asarray(problem[name]).reshape(n, n) for name in ("a", "seed"))
    b = jnp.asarray(problem["b"]).reshape(n, 1)
    function = FUNCTIONS[kind]
    x = (a, b) if kind == "linear system" else (a,)
    seed = {"determinant": 1.0, "its logarithm": 1.0, "linear system": b}.get(kind, seed)
    value = jax.jit(function)
    # arguments that aren't closed over: what is constant would be computed when it is compiled
    gradient = jax.jit(lambda seed, *x: jax.vjp(function, *x)[1](seed))
    seed = jnp.asarray(seed)
    return lambda: value(*x), lambda: gradient(seed, *x)


def difference(problem, value, gradient):
    """What is wrong with the results, as the distance from those of JAX."""
    gradient = list(gradient)
    if problem["kind"] == "Cholesky":
        # by the lower triangle, whose elements stand for two
        gradient = [jnp.tril(gradient[0] + gradient[0].T) - jnp.diag(jnp.diag(gradient[0]))]
    for name, found in ("value", [value]), ("gradient", gradient):
        found = jnp.concatenate([jnp.ravel(part) for part in found])
        expected = jnp.asarray(problem[name])
        off = float(jnp.abs(found - expected).max() / jnp.abs(expected).max())
        if not off <= 1e-9:
            return f"the {name}s in JAX and here are {off} apart"
    return None


def seconds(work, repeat):
    start = time.process_time()
    for _ in range(repeat):
        jax.block_until_ready(work())
    return (time.process_time() - start) / repeat


current = []
for line in sys.stdin:
    problem = json.loads(line)
    if problem is None:
        answer = [seconds(work, repeat) for work, repeat in current]
    else:
        value, gradient = works(problem)
        answer = difference(problem, value(), gradient())
        current = []
        for work in value, gradient:
            seconds(work, 3)
            current.append((work, max(1, int(SLICE / max(seconds(work, 1), 1e-9)) + 1)))
    print(json.dumps(answer), flush=True)
