"""Random numbers as their definition has them, for the oracle of every op: Philox4x32-10, and what is drawn by it."""

import numpy as np

from special_functions import cospi, lgamma, ndtri, sin_pi


def philox(seed, stream, blocks):
    """The four words of the first blocks of a stream, by Salmon et al. 2011."""
    index = np.arange(blocks, dtype=np.uint64)
    low, high, word = np.uint64(0xFFFFFFFF), np.uint64(32), lambda x: np.full(blocks, x & 0xFFFFFFFF, np.uint64)
    counter = [index & low, index >> high, word(stream), word(stream >> 32)]
    key = [seed & 0xFFFFFFFF, seed >> 32 & 0xFFFFFFFF]
    for _ in range(10):
        a, c = np.uint64(0xD2511F53) * counter[0], np.uint64(0xCD9E8D57) * counter[2]
        counter = [(c >> high) ^ counter[1] ^ np.uint64(key[0]), c & low, (a >> high) ^ counter[3] ^ np.uint64(key[1]), a & low]
        key = [key[0] + 0x9E3779B9 & 0xFFFFFFFF, key[1] + 0xBB67AE85 & 0xFFFFFFFF]
    return np.stack(counter, 1)


def draw_uniform(state, shape, dtype):
    dtype, size = np.dtype(dtype), int(np.prod(shape))
    words = philox(*map(int, state), size // 2 + 1)
    if dtype.itemsize == 8:
        bits = (words[:, 0::2] << np.uint64(32) | words[:, 1::2]).reshape(-1)
        value = bits.astype(np.int64) if dtype.kind == "i" else (bits >> np.uint64(11)).astype(dtype) * 2.0**-53
    else:
        bits = words.reshape(-1).astype(np.uint32)
        value = bits.astype(np.int32) if dtype.kind == "i" else bits >> np.uint32(31) != 0
        if dtype.kind == "f":
            value = (bits >> np.uint32(8)).astype(dtype) * dtype.type(2.0**-24)
    return value[:size].reshape(shape)


def draw_permutation(state, count, dtype):
    words, positions = philox(*map(int, state), count).tolist(), list(range(count))
    for iteration in range(count - 1):
        left = count - iteration
        picked = (words[iteration][0] << 32 | words[iteration][1]) * left >> 64
        positions[left - 1], positions[picked] = positions[picked], positions[left - 1]
    return np.array(positions, dtype)


# Distributions by rejection ------------------------------------------------------------------------------------------------------


def attempt(state, number, elements):
    """Both numbers of an attempt at each of so many elements."""
    words = philox(int(state[0]), int(state[1]) + (number << 48), elements)
    bits = words[:, 0::2] << np.uint64(32) | words[:, 1::2]
    return ((bits >> np.uint64(12)).astype(np.float64) + 0.5) * 2.0**-52


def until_accepted(size, state, candidate, pending):
    """What `candidate(elements, u, v)` gives, a number and whether it is accepted, of each element."""
    found, pending = np.zeros(size), np.flatnonzero(pending)
    for number in range(64):
        if not len(pending):
            break
        u, v = attempt(state, number, size)[pending].T
        numbers, accepted = candidate(pending, u, v)
        found[pending] = numbers
        pending = pending[~accepted]
    return found


def terms_below(u, term, after):
    total, k = term, 0
    while u > total and k < 64:
        term = after(k, term)
        total += term
        k += 1
    return k


def of_each_state(draw):
    """`draw` of parameters and a state, or of their batches and a state of each."""

    def drawn(*operands):
        *parameters, state = map(np.asarray, operands)
        if state.ndim == 1:
            return draw(*parameters, state)
        wanted = np.float64 if draw.__name__ == "draw_log_gamma" else np.int64
        batches = [drawn(*(x[i] for x in parameters), state[i]) for i in range(len(state))]
        return np.array(batches, wanted).reshape(parameters[-1].shape)

    return np.errstate(all="ignore")(drawn)


@of_each_state
def draw_log_gamma(a, state):
    shape, a = np.shape(a), np.asarray(a, np.float64).reshape(-1)
    d = np.where(a < 1, a + 1, a) - 1 / 3

    def candidate(at, u, v):
        z = ndtri(u)
        root = 1 + z / np.sqrt(9 * d[at])
        logarithm = 3 * np.log(np.maximum(root, np.finfo(np.float64).tiny))
        return np.log(d[at]) + logarithm, (root > 0) & (np.log(v) < 0.5 * z * z + d[at] * (1 - root**3 + logarithm))

    found = until_accepted(a.size, state, candidate, (a > 0) & (a < np.inf))
    boost = np.log(attempt(state, 64, a.size)[:, 0]) / a
    return np.where(a == np.inf, a, np.where(a > 0, found + np.where(a < 1, boost, 0), np.nan)).reshape(shape)


@of_each_state
def draw_poisson(rate, state):
    shape, rate = np.shape(rate), np.asarray(rate, np.float64).reshape(-1)
    rate = np.where(rate > 0, np.minimum(rate, 2.0**60), 0)

    def candidate(at, u, v):
        mean = rate[at]
        b = 0.931 + 2.53 * np.sqrt(mean)
        a, us = -0.059 + 0.02483 * b, 0.5 - np.abs(u - 0.5)
        k = np.floor((2 * a / us + b) * (u - 0.5) + mean + 0.43)
        refused = (k < 0) | ((us < 0.013) & (v > us))
        height = np.log(v * (1.1239 + 1.1328 / (b - 3.4)) / (a / (us * us) + b))
        slow = height <= k * np.log(mean) - mean - lgamma(np.maximum(k, 0) + 1)
        return k, ((us >= 0.07) & (v <= 0.9277 - 3.6224 / (b - 2))) | (~refused & slow)

    found = until_accepted(rate.size, state, candidate, rate >= 10)
    for i, u in enumerate(attempt(state, 0, rate.size)[:, 0]):
        if rate[i] < 10:
            found[i] = terms_below(u, np.exp(-rate[i]), lambda k, term: term * rate[i] / (k + 1))
    return found.astype(np.int64).reshape(shape)


@of_each_state
def draw_binomial(n, p, state):
    shape, n, p = np.shape(n), *(np.asarray(x, np.float64).reshape(-1) for x in (n, p))
    n, p = np.where(n > 0, n, 0), np.where(p > 0, p, 0)
    chance = np.minimum(p, 1)
    q = np.minimum(chance, 1 - chance)

    def candidate(at, u, v):
        all_of, p = n[at], q[at]
        spread = np.sqrt(all_of * p * (1 - p))
        b = 1.15 + 2.53 * spread
        a, us = -0.0873 + 0.0248 * b + 0.01 * p, 0.5 - np.abs(u - 0.5)
        k = np.floor((2 * a / us + b) * (u - 0.5) + all_of * p + 0.5)
        inside = (k >= 0) & (k <= all_of)
        mode, some = np.floor((all_of + 1) * p), np.clip(k, 0, all_of)
        height = np.log(v * (2.83 + 5.1 / b) * spread / (a / (us * us) + b))
        most = lgamma(mode + 1) + lgamma(all_of - mode + 1)
        slow = height <= most - lgamma(some + 1) - lgamma(all_of - some + 1) + (k - mode) * np.log(p / (1 - p))
        return k, inside & (((us >= 0.07) & (v <= 0.92 - 4.2 / b)) | slow)

    found = until_accepted(n.size, state, candidate, n * q >= 10)
    for i, u in enumerate(attempt(state, 0, n.size)[:, 0]):
        if n[i] * q[i] < 10:
            odds = q[i] / (1 - q[i])
            found[i] = min(terms_below(u, np.exp(n[i] * np.log1p(-q[i])), lambda k, term: term * odds * (n[i] - k) / (k + 1)), n[i])
    return np.where(p > 0.5, n - found, found).astype(np.int64).reshape(shape)


@of_each_state
def draw_multinomial(n, pvals, state):
    """What is left of n and of 1 is computed in the op's dtype, which the given ones are wider than."""
    own = np.float32 if n.dtype == np.float64 else np.float64
    left, share, counts = n.astype(own), np.ones(n.shape, own), []
    for i in range(pvals.shape[-1]):
        p = pvals[..., i].astype(own)
        part = np.where(share <= p, own(1), p / np.where(share > 0, share, own(1))) if i + 1 < pvals.shape[-1] else np.ones(n.shape)
        counts.append(draw_binomial(left, part, (int(state[0]), int(state[1]) + i)))
        left, share = left - counts[-1].astype(own), share - p
    return np.stack(counts, -1) if counts else np.zeros(pvals.shape, np.int64)


# Keys, and functions of these ----------------------------------------------------------------------------------------------------


def state_of(key, streams=0):
    return int(key[0]), int(key[1]) + streams


def random_split(key, num):
    return draw_uniform(state_of(key, 1 << 63), (num, 2), np.int64).astype(np.uint64)


def random_fold_in(key, data):
    words = draw_uniform(state_of(key, 1 << 62), (2,), np.int64)
    return draw_uniform((int(words[0]), int(words[1]) + int(data)), (2,), np.int64).astype(np.uint64)


def between(key, shape, like, stream=0):
    """Numbers between 0 and 1 of the dtype that `like`, which is wider, stands for."""
    dtype = np.dtype(np.float32 if like.dtype == np.float64 else np.float64)
    steps = 2.0 ** (23 if dtype == np.float32 else 52)
    unit = draw_uniform(state_of(key, stream), shape, dtype).astype(np.float64)
    return ((np.floor(unit * steps) + 0.5) / steps).astype(like.dtype)


def sizes_of(shape, *parameters):
    return np.broadcast_shapes(*(x.shape for x in parameters)) if shape is None else tuple(shape)


def log_gamma(a, shape, key, stream=0):
    return draw_log_gamma(np.broadcast_to(a, shape), state_of(key, stream))


def random_exponential(scale, shape, key):
    return -np.log(between(key, sizes_of(shape, scale), scale)) * scale


def random_rayleigh(scale, shape, key):
    return np.sqrt(-2 * np.log(between(key, sizes_of(shape, scale), scale))) * scale


def random_pareto(a, shape, key):
    return between(key, sizes_of(shape, a), a) ** (-1 / a)


def random_weibull(a, shape, key):
    return (-np.log(between(key, sizes_of(shape, a), a))) ** (1 / a)


def random_laplace(loc, scale, shape, key):
    side = between(key, sizes_of(shape, loc, scale), loc) - 0.5
    return loc - scale * np.sign(side) * np.log1p(-2 * np.abs(side))


def random_logistic(loc, scale, shape, key):
    unit = between(key, sizes_of(shape, loc, scale), loc)
    return loc + scale * np.log(unit / (1 - unit))


def random_gumbel(loc, scale, shape, key):
    return loc - scale * np.log(-np.log(between(key, sizes_of(shape, loc, scale), loc)))


def random_cauchy(loc, scale, shape, key):
    half = between(key, sizes_of(shape, loc, scale), loc) - 0.5
    return loc + scale * sin_pi(half) / cospi(half)


def random_lognormal(loc, scale, shape, key):
    return np.exp(loc + scale * ndtri(between(key, sizes_of(shape, loc, scale), loc)))


def random_geometric(p, shape, key):
    wide = p.astype(np.float64 if p.dtype == np.float32 else np.longdouble)
    with np.errstate(all="ignore"):
        return (np.floor(np.log(between(key, sizes_of(shape, p), wide)) / np.log1p(-wide)) + 1).astype(np.int64)


def random_loggamma(a, shape, key):
    return log_gamma(a, sizes_of(shape, a), key)


def random_gamma(a, shape, key):
    return np.exp(random_loggamma(a, shape, key))


def random_chisquare(df, shape, key):
    return 2 * np.exp(random_loggamma(df / 2, shape, key))


def random_student_t(df, shape, key):
    shape = sizes_of(shape, df)
    return ndtri(between(key, shape, df, 1)) * np.exp((np.log(df / 2) - log_gamma(df / 2, shape, key)) / 2)


def random_beta(a, b, shape, key):
    shape = sizes_of(shape, a, b)
    return 1 / (1 + np.exp(log_gamma(b, shape, key, 1) - log_gamma(a, shape, key)))


def random_dirichlet(alpha, shape, key):
    numbers = np.exp(log_gamma(alpha, alpha.shape if shape is None else (*shape, alpha.shape[-1]), key))
    return numbers / np.sum(numbers, -1, keepdims=True)


def random_poisson(lam, shape, key):
    return draw_poisson(np.broadcast_to(lam, sizes_of(shape, lam)), state_of(key))


def random_binomial(n, p, shape, key):
    shape = sizes_of(shape, n, p)
    return draw_binomial(np.broadcast_to(n, shape), np.broadcast_to(p, shape), state_of(key))


def random_multinomial(n, pvals, shape, key):
    shape = np.broadcast_shapes(n.shape, pvals.shape[:-1]) if shape is None else tuple(shape)
    return draw_multinomial(np.broadcast_to(n, shape), np.broadcast_to(pvals, (*shape, pvals.shape[-1])), state_of(key))


def random_multivariate_normal(mean, cov, shape, key):
    triangle = np.linalg.cholesky(cov.astype(np.float64))
    shape = np.broadcast_shapes(mean.shape, cov.shape[:-1]) if shape is None else (*shape, mean.shape[-1])
    return mean + np.sum(triangle * ndtri(between(key, shape, mean))[..., None, :], -1)


def random_choice(a, p, key, shape, replace):
    count, size = int(np.prod(shape or ())), a.shape[0]
    if p is None:
        unit = draw_uniform(state_of(key), (count,), np.float64)
        chosen = np.floor(unit * size).astype(np.int64) if replace else draw_permutation(state_of(key), size, np.int64)[:count]
    else:
        p = p.astype(np.float64 if p.dtype == np.float64 else np.float32)
        wide = p.astype(np.float64 if p.dtype == np.float32 else np.longdouble)
        unit = between(key, (count if replace else size,), wide)
        if replace:
            sums = np.cumsum(p)
            chosen = np.minimum(np.searchsorted(sums, unit.astype(p.dtype) * sums[-1], "right"), size - 1)
        else:
            with np.errstate(all="ignore"):
                chosen = np.argsort(-(np.log(wide) - np.log(-np.log(unit))), kind="stable")[:count]
    return a[chosen].reshape(*(shape or ()), *a.shape[1:])
