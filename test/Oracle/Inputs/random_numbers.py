"""Random numbers as their definition has them, for the oracle of every op: Philox4x32-10, and what is drawn by it."""

import numpy as np


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
