"""Objects that were never initialized, lengths that lie and words that are no UTF-8: errors, never a crash."""

import copy
import pickle
import threading

import pytest
import weft as wf

NEVER = "never initialized"


def test_a_dtype_that_was_never_initialized_is_refused():
    for use in (
        hash, repr, str, lambda d: d == d, lambda d: d != "float32", lambda d: wf.float32 == d, lambda d: d.name,
        lambda d: wf.zeros([2], d), lambda d: wf.cast(1, d), lambda d: wf.dtype(d), lambda d: {d: 1}, pickle.dumps,
        lambda d: wf.function(lambda x: x)(d),
    ):  # fmt: skip
        for _ in range(100):
            with pytest.raises(TypeError, match=NEVER):
                use(wf.DType.__new__(wf.DType))


class Lying(list):
    """A list that is wrong about how long it is."""

    def __len__(self):
        return -1


class Failing(list):
    def __len__(self):
        raise KeyError("how long")


@pytest.mark.parametrize("kind", [Lying, Failing])
def test_lists_that_are_wrong_about_their_length(kind):
    v = wf.Variable(1.0)
    wf.optimizers.SGD(kind([v])).apply_gradients([wf.tensor(1.0)])
    assert v.numpy() < 1
    for wrong in ([1.0], ["a"], [None, v]):
        try:
            wf.optimizers.SGD(kind(wrong))
        except (TypeError, ValueError, KeyError):
            pass
    assert wf.zeros(kind([2])).shape == (2,)
    assert wf.stack(kind([v, v])).shape == (2,)


WORD = "\ud800"


@pytest.mark.parametrize(
    "call",
    [
        lambda words: wf.sum(wf.ones(2), **words),
        lambda words: wf.ones(2).sum(**words),
        lambda words: wf.where(wf.ones(2) > 0, 1, 2, **words),
        lambda words: wf.optimizers.SGD([wf.Variable(1.0)], **words),
        lambda words: wf.nn.Dense(2, **words),
        lambda words: wf.data.range(3).batch(2, **words),
        lambda words: wf.GradientTape(**words),
    ],
)
def test_keywords_that_are_no_utf8_are_named(call):
    with pytest.raises(TypeError, match=r"unexpected argument '\\ud800'"):
        call({WORD: 1})


def test_traced_functions_take_any_keyword():
    f = wf.function(lambda x, **words: x + sum(words.values()), autograph=False)
    assert f(wf.ones(2), **{WORD: 1}).tolist() == [2.0, 2.0]
    assert f(wf.ones(2), **{WORD + "a": 2}).tolist() == [3.0, 3.0]
    assert f.trace_count() == 2


def test_words_of_options_that_are_no_utf8_are_refused():
    for call in (
        lambda: wf.losses.mean_squared_error(wf.ones(2), wf.ones(2), reduction=WORD),
        lambda: wf.nn.Conv2D(2, 3, padding=WORD),
        lambda: wf.max_pool(wf.ones([1, 4, 1]), 2, padding=WORD),
        lambda: wf.resize_image(wf.ones([1, 4, 1]), 2, WORD),
        lambda: wf.tensor(1, device=WORD),
        lambda: wf.from_dlpack(wf.ones(2), device=WORD),
    ):
        with pytest.raises((ValueError, TypeError), match=r"xed\\xa0\\x80|ud800"):
            call()


def test_concrete_functions_are_not_pickled():
    f = wf.function(lambda x: x, name="f")
    for each in (f, f.get_concrete_function(wf.TensorSpec([2]))):
        for attempt in (pickle.dumps, copy.copy, copy.deepcopy):
            with pytest.raises(TypeError, match="the traced function .* cannot be pickled"):
                attempt(each)


def test_negative_sizes_are_no_specs():
    for size in (-2, -3, -(2**63)):
        with pytest.raises(wf.ShapeError, match=f"TensorSpec: shape has a size of {size}, which is negative"):
            wf.TensorSpec([2, size])


def test_pulls_in_other_threads_speak_of_vjp():
    _, pull = wf.vjp(wf.sin, 0.0)
    said = []

    def elsewhere():
        try:
            pull(1.0)
        except wf.StateError as error:
            said.append(str(error))

    thread = threading.Thread(target=elsewhere)
    thread.start()
    thread.join()
    assert len(said) == 1
    assert "vjp: " in said[0]
    assert "another thread" in said[0]
    assert "GradientTape" not in said[0]
    assert pull(1.0)[0].numpy() == 1


def test_the_least_integer_has_64_bits():
    least = -(2**63)
    assert next(iter(wf.data.range(least, 0))).numpy() == least
    for make in (lambda d: d.batch(least), lambda d: d.take(least), lambda d: d.skip(least)):
        with pytest.raises(ValueError, match=f"is {least} but must be"):
            make(wf.data.range(3))
