"""Digits for the programs, in the manner of MNIST."""

import numpy as np


def digits(count):
    """Images of 28 x 28 bytes and their labels: a bright square at a position of its own for each digit."""
    random = np.random.default_rng(7)
    labels = random.integers(0, 10, count).astype(np.uint8)
    images = random.integers(0, 30, (count, 28, 28)).astype(np.uint8)
    for image, label in zip(images, labels):
        row, column = divmod(int(label), 5)
        image[4 + 12 * row : 12 + 12 * row, 1 + 5 * column : 6 + 5 * column] += 200
    return images, labels
