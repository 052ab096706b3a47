"""Decoders and distances over sequences of any length: loops, slices and positions over axes of unknown size."""

import itertools

import numpy as np
import pytest

import weft as wf

WORD = wf.TensorSpec([None], wf.int32)


@wf.function(input_signature=[WORD, WORD])
def edit_distance(a, b):
    """By whole rows of the table: the running minimum is over insertions."""
    steps = wf.arange(len(b) + 1)
    row = steps
    for letter in a:
        best = wf.minimum(row[1:] + 1, row[:-1] + wf.cast(b != letter, wf.int32))
        row = wf.cummin(wf.concatenate([row[:1] + 1, best]) - steps) + steps
    return row[-1]


@wf.function(input_signature=[WORD, WORD])
def edit_distance_by_cells(a, b):
    columns = len(b) + 1
    row = wf.arange(columns)
    for i in range(len(a)):
        left = i + 1
        cells = wf.TensorArray(wf.int32, columns).write(0, left)
        for j in range(len(b)):
            cost = 0 if a[i] == b[j] else 1
            left = min(left + 1, row[j + 1] + 1, row[j] + cost)
            cells = cells.write(j + 1, left)
        row = cells.stack()
    return row[-1]


def distance(a, b):
    table = np.add.outer(np.arange(len(a) + 1), np.arange(len(b) + 1))
    for i, j in itertools.product(range(len(a)), range(len(b))):
        kept = table[i, j] + (a[i] != b[j])
        table[i + 1, j + 1] = min(table[i, j + 1] + 1, table[i + 1, j] + 1, kept)
    return table[-1, -1]


@pytest.mark.parametrize("function", [edit_distance, edit_distance_by_cells], ids=["rows", "cells"])
def test_edit_distance(function):
    generator = np.random.default_rng(3)
    for length_a, length_b in [(0, 0), (0, 3), (3, 0), (1, 1), (5, 5), (7, 4), (4, 7)]:
        a, b = (generator.integers(0, 3, n).astype("i4") for n in (length_a, length_b))
        assert int(function(a, b)) == distance(a, b)
    assert function.trace_count() == 1


OPEN = wf.TensorSpec([None, None])


def beams(emissions, transitions, width):
    """The best `width` paths of words and their scores, best first: emissions are [time, words]."""
    scores, tokens = wf.top_k(emissions[0], width)
    paths = tokens[:, None]
    for emission in emissions[1:]:
        total = scores[:, None] + transitions[paths[:, -1]] + emission
        words = wf.size(total, 1)
        _, best = wf.top_k(wf.reshape(total, -1), width)
        parent, token = best // words, best % words
        scores = total[parent, token]
        paths = wf.concatenate([paths[parent], token[:, None]], axis=1)
    return paths, scores


def all_paths(emissions, transitions):
    time, words = emissions.shape
    found = []
    for path in itertools.product(range(words), repeat=time):
        steps = sum(transitions[a, b] for a, b in itertools.pairwise(path))
        found.append((steps + sum(emissions[t, w] for t, w in enumerate(path)), path))
    return sorted(found, reverse=True)


def test_beam_search():
    """Of width as many as words, with transitions that count for little, it finds the best of all paths."""
    search = wf.function(lambda e, t: beams(e, t, 3), input_signature=[OPEN, OPEN])
    generator = np.random.default_rng(5)
    for time, words in [(1, 4), (2, 3), (4, 3), (5, 4)]:
        emissions = generator.normal(size=(time, words)).astype("f4")
        transitions = 0.01 * generator.normal(size=(words, words)).astype("f4")
        paths, scores = search(emissions, transitions)
        want = all_paths(emissions.astype("f8"), transitions.astype("f8"))[:3]
        assert np.asarray(paths).tolist() == [list(path) for _, path in want]
        np.testing.assert_allclose(np.asarray(scores), [score for score, _ in want], rtol=1e-5)
    assert search.trace_count() == 1


def test_beam_search_is_what_it_is_at_once():
    search = wf.function(lambda e, t: beams(e, t, 2), input_signature=[OPEN, OPEN])
    generator = np.random.default_rng(6)
    emissions, transitions = (generator.normal(size=s).astype("f4") for s in [(6, 5), (5, 5)])
    for a, b in zip(
        search(emissions, transitions),
        beams(wf.tensor(emissions), wf.tensor(transitions), 2),
        strict=True,
    ):
        np.testing.assert_array_equal(np.asarray(a), np.asarray(b))


def test_gradient_through_the_best_path():
    """Of the score of the best path: 1 where it goes, by the emissions."""

    def best(emissions, transitions):
        return beams(emissions, transitions, 2)[1][0]

    gradient = wf.function(wf.grad(best), input_signature=[OPEN, OPEN])
    emissions = np.random.default_rng(7).normal(size=(4, 3)).astype("f4")
    transitions = np.zeros((3, 3), "f4")
    want = np.zeros((4, 3), "f4")
    want[np.arange(4), emissions.argmax(1)] = 1
    np.testing.assert_array_equal(np.asarray(gradient(emissions, transitions)), want)
