"""The gradients that `gpu_report` takes the time of, in JAX, in double precision, on a GPU.

Prints a line for each instance: what it is, and the shortest time of ten in milliseconds. Arrays stay on the device.
"""

import time

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)

POINTS = 10_000
MIXTURES = [(2, 5), (10, 5), (2, 200), (10, 50), (20, 50), (32, 50), (64, 5), (64, 25), (64, 200), (128, 200)]
BUNDLES = [(49, 7_776, 31_843), (161, 48_126, 182_072), (372, 47_423, 204_472), (253, 163_691, 899_155)]


def shortest(run):
    jax.block_until_ready(run())
    times = []
    for _ in range(10):
        start = time.perf_counter()
        jax.block_until_ready(run())
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def mixture(alphas, means, icf, points, gamma, m):
    """The log-posterior of a Gaussian mixture, but for what doesn't depend on the parameters."""
    d = points.shape[1]
    rows, columns = np.tril_indices(d, -1)
    # icf has the strict triangle by columns
    order = np.lexsort((rows, columns))
    rows, columns = rows[order], columns[order]
    exp_q = jnp.exp(icf[:, :d])
    factor = jnp.zeros((len(alphas), d, d)).at[:, rows, columns].set(icf[:, d:])
    factor = factor + exp_q[:, :, None] * jnp.eye(d)
    centred = points[None] - means[:, None]
    z = jnp.einsum("krj,kij->kir", factor, centred)
    term = alphas[:, None] + icf[:, :d].sum(1)[:, None] - 0.5 * (z * z).sum(2)
    likelihood = jax.scipy.special.logsumexp(term, axis=0).sum()
    prior = 0.5 * gamma**2 * ((exp_q**2).sum() + (icf[:, d:] ** 2).sum()) - m * icf[:, :d].sum()
    return likelihood - len(points) * jax.scipy.special.logsumexp(alphas) + prior


def residual(camera, point, weight, feature):
    r, centre = camera[:3], camera[3:6]
    x = point - centre
    square = r @ r
    angle = jnp.sqrt(jnp.where(square > 0, square, 1.0))
    axis = r / angle
    turned = jnp.cos(angle) * x + jnp.sin(angle) * jnp.cross(axis, x) + (1 - jnp.cos(angle)) * (axis @ x) * axis
    seen = jnp.where(square > 0, turned, x + jnp.cross(r, x))
    u = seen[:2] / seen[2]
    square = u @ u
    scale = camera[6] * (1 + square * (camera[9] + square * camera[10]))
    return weight * (scale * u + camera[7:9] - feature)


def bundle(cameras, points, weights, camera_of, point_of, features):
    e = jax.vmap(residual)(cameras[camera_of], points[point_of], weights, features)
    off = 1 - weights * weights
    return 0.5 * ((e * e).sum() + (off * off).sum())


def main():
    print(jax.devices()[0].device_kind, "JAX", jax.__version__)
    random = np.random.default_rng(1)
    gradient = jax.jit(jax.value_and_grad(mixture, argnums=(0, 1, 2)))
    for d, k in MIXTURES:
        shapes = [(k,), (k, d), (k, d + d * (d - 1) // 2), (POINTS, d)]
        alphas, means, icf, points = (jnp.asarray(random.normal(size=shape)) for shape in shapes)
        ms = shortest(lambda: gradient(alphas, means, 0.1 * icf, points, 1.0, 0))
        print(f"GMM gradient, d = {d}, K = {k}, N = {POINTS}: {ms:.3f} ms", flush=True)
    gradient = jax.jit(jax.value_and_grad(bundle, argnums=(0, 1, 2)))
    for n, m, p in BUNDLES:
        cameras = jnp.asarray(random.normal(size=(n, 11)))
        points = jnp.asarray(random.normal(size=(m, 3)) + np.array([0.0, 0.0, 5.0]))
        weights, features = jnp.asarray(random.normal(size=p)), jnp.asarray(random.normal(size=(p, 2)))
        camera_of, point_of = jnp.asarray(random.integers(n, size=p)), jnp.asarray(random.integers(m, size=p))
        ms = shortest(lambda: gradient(cameras, points, weights, camera_of, point_of, features))
        print(f"BA gradient, {n} cameras, {p} observations: {ms:.3f} ms", flush=True)


if __name__ == "__main__":
    main()
