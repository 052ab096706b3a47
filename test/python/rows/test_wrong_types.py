"""Arguments of wrong types, one after the other, of all functions of weft and weft.tf: a typed error of one sentence,
or an answer."""

import inspect
import re

import pytest

import weft as wf
from weft import tf
from weft.tf._names import NAMES

WRONG = {
    "None": None,
    "text": "a",
    "object": object(),
    "dict": {},
    "lambda": lambda: 1,
    "list": [object()],
    "large": 10**30,
}


MATRIX = wf.tensor([[1.0, 2.0], [3.0, 4.0]])


def first(*args):
    return args[0] if args else 1.0


def never(*args):
    return False


# What a parameter of a name is given; a matrix where there is nothing.
BY_NAME = {
    "alpha atol axis axis1 axis2 beta destination num_lower num_upper rtol source": 0,
    "axes": [0],
    "block_size classes count depth indices_or_sections k ksize length n num num_classes num_columns num_rows "
    "num_or_size_splits num_samples num_segments rank ranks repeats shift stride window": 2,
    "shape sizes dims input_shape": [2, 2],
    "begin low starts": [0, 0],
    "strides limits high interior size end": [1, 1],
    "paddings": [[0, 1], [1, 0]],
    "multiples reps": [1, 2],
    "perm permutation": [1, 0],
    "dtype out_type output_type tf_type type_value Tout": "float32",
    "ids indices labels segment_ids": [0, 1],
    "branch_index iterations start": 0,
    "initial initial_learning_rate learning_rate rate decay_rate end_learning_rate gain clip_norm": 0.5,
    "steps decay_steps stop": 3,
    "seed": 3,
    "body f fn func function true_fn false_fn": first,
    "branch_fns": [first],
    "cond": never,
    "inp inputs tensors t_list": [[[1.0]], [[1.0]]],
    "loop_vars args": [1.0],
    "primals tangents": ([1.0],),
    "equation": "ij,jk->ik",
    "padding": "valid",
    "checkpoint_dir folder log_dir logdir path filename": "folder",
    "message name identifier activation": "relu",
    "boundaries": [1, 2],
    "largest": 0.1,
}
VALUES = {name: value for names, value in BY_NAME.items() for name in names.split()}

# What functions are given for other reasons than their parameters' names: for the one in front of a colon.
OWN = {
    "random.stateless_uniform, random.stateless_normal, random.stateless_truncated_normal, random.stateless_gamma, random.stateless_poisson, random.stateless_binomial: seed": [1, 2],
    "logical_and, logical_or, logical_xor, logical_not, math.logical_xor, math.logical_not: x y lhs rhs": True,
    "reduce_all, reduce_any, all, any: input_tensor x": [True],
    "cond: pred": True,
    "tensordot, linalg.tensordot: axes": 1,
    "gather_nd, tensor_scatter_nd_add, tensor_scatter_nd_sub, tensor_scatter_nd_update, scatter_nd: indices": [[0, 1]],
    "gather_nd, tensor_scatter_nd_add, tensor_scatter_nd_sub, tensor_scatter_nd_update, scatter_nd: updates": [2.0],
    "fill: value": 1.0,
    "unique, unique_with_counts: x": [1, 2],
    "nn.conv2d, nn.max_pool, nn.avg_pool, image.resize, nn.space_to_depth: input images": wf.ones((1, 4, 4, 1)),
    "nn.depth_to_space, max_pool, min_pool, average_pool, resize_image, convolution: input x": wf.ones((1, 4, 4, 4)),
    "nn.conv2d, convolution: filters kernel": wf.ones((2, 2, 1, 1)),
    "nn.conv2d, nn.max_pool, nn.avg_pool, convolution: strides": 1,
    "nn.moments: axes": [0],
    "confusion_matrix, math.confusion_matrix: predictions": [0, 1],
    "image.flip_up_down: image": wf.ones((2, 2, 1)),
    "broadcast_static_shape: shape_x shape_y": [2, 1],
    "linspace: start": 1.0,
    "full, full_like: value": 1.0,
    "select: pred": True,
    "stack, vstack, hstack: xs": [[1.0], [2.0]],
    "math.logical_and, math.logical_or: x y": True,
    "math.reduce_all, math.reduce_any: input_tensor": [True],
    "losses.binary_cross_entropy, losses.categorical_cross_entropy, losses.hinge: labels": MATRIX,
    "nn.max_pool2d, nn.avg_pool2d: input": wf.ones((1, 4, 4, 4)),
    "nn.max_pool2d, nn.avg_pool2d: strides": 1,
    "nn.initializers.constant: value": 1.0,
    "io.save_safetensors: tensors": {"a": wf.ones(2)},
    "nn.softmax_cross_entropy_with_logits: labels": [[0.0, 1.0], [1.0, 0.0]],
    "data.range: start": 3,
    "bitwise_and, bitwise_or, bitwise_xor, bitwise_left_shift, bitwise_right_shift: lhs rhs": [1, 2],
    "bitwise_invert, bitwise_not, bincount: x": [1, 2],
    "pad_interior: value": 1.0,
    "pad, unfold: pad_width size": 1,
    "cumulative_sum, cumulative_prod: x": [1.0, 2.0],
    "quantile, percentile: q": 0.5,
    "digitize, interp, polyval, convolve, correlate, gradient: bins xp fp p a v f": [1.0, 2.0],
    "segment_sum, segment_mean, segment_prod, segment_max, segment_min: segment_ids": [0, 1],
    "segment_sum, segment_mean, segment_prod, segment_max, segment_min: num_segments": 2,
    "scatter_elements: updates": [1.0, 2.0],
    "scatter_elements: indices": [0, 1],
}
for names, value in OWN.items():
    paths, _, words = names.partition(": ")
    VALUES |= {f"{path} {word}": value for path in paths.split(", ") for word in words.split()}

# They change what the process does from then on, or take functions of C++ alone.
LEFT_OUT = {
    "wf.config.run_functions_eagerly", "tf.config.run_functions_eagerly", "wf.set_printoptions",
    "tf.summary.experimental.set_step", "tf.types.experimental.GenericFunction", "tf.UnconnectedGradients",
    "tf.distribute.ReduceOp",
    "wf.train.trace_profile", "wf.train.Profile",
}  # fmt: skip


def functions():
    """Paths and functions of all modules, each once."""
    found = {}
    for module in ("", "data", "io", "losses", "nn", "nn.initializers", "optimizers", "random", "schedules", "summary",
                   "train", "config", "autograph"):  # fmt: skip
        of = wf
        for word in filter(None, module.split(".")):
            of = getattr(of, word)
        for name in of.__all__:
            found.setdefault(id(getattr(of, name)), (".".join(filter(None, ("wf", module, name))), getattr(of, name)))
    for path in sorted(NAMES):
        value = tf
        for word in path.split("."):
            value = getattr(value, word)
        found.setdefault(id(value), (f"tf.{path}", value))
    for path, value in found.values():
        is_error = isinstance(value, type) and issubclass(value, BaseException)
        if callable(value) and not is_error and path not in LEFT_OUT:
            try:
                yield path, value, list(inspect.signature(value).parameters.values())
            except (TypeError, ValueError):  # of a class of C++, whose calls test_call_errors.py looks at
                continue


FUNCTIONS = list(functions())


def value_of(path, name):
    return VALUES.get(f"{path.partition('.')[2]} {name}", VALUES.get(name, MATRIX))


# What Python says from inside of a function.
INSIDE = re.compile(
    r"object is not (iterable|subscriptable|callable)|unsupported operand|has no attribute|must be real number|"
    r"has no len|cannot be interpreted|not supported between|invalid literal|not all arguments|"
    r"expected str, bytes|unhashable|bad operand|can only concatenate|can't multiply|too large to convert|zip\(\)|"
    r"indices must be|must be a string|could not convert|not enough values|too many values|must be an iterable|"
    r"incompatible function|_weft|internal_"
)


def fault_of(error):
    """What is wrong with an error; None if nothing is."""
    text = str(error)
    if isinstance(error, wf.InternalError) or not isinstance(error, wf.Error | TypeError | ValueError):
        return f"a {type(error).__name__}: {text}"
    if "\n" in text.strip() and not isinstance(error, AssertionError):  # whose text has the values
        return f"several lines: {text}"
    if not isinstance(error, wf.Error) and INSIDE.search(text):
        return f"words from inside: {text}"
    return None


def called(function, parameters, arguments, rest=()):
    """Calls a function by names, but for what has none."""
    by_position = [p for p in parameters if p.kind is p.POSITIONAL_ONLY or (rest and p.kind is p.POSITIONAL_OR_KEYWORD)]
    positional = [arguments[p.name] for p in by_position if p.name in arguments]
    names = {name: value for name, value in arguments.items() if name not in {p.name for p in by_position}}
    return function(*positional, *rest, **names)


@pytest.fixture(autouse=True)
def in_a_folder(tmp_path, monkeypatch):
    """Files are written in a folder of their own."""
    monkeypatch.chdir(tmp_path)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize(("path", "function", "parameters"), FUNCTIONS, ids=[path for path, *_ in FUNCTIONS])
def test_wrong_types(path, function, parameters):
    rest = [p for p in parameters if p.kind is p.VAR_POSITIONAL]
    named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
    right = {p.name: value_of(path, p.name) for p in named if p.default is p.empty}
    for word, wrong in WRONG.items():
        for parameter in named:
            try:
                called(function, named, {**right, parameter.name: wrong}, (MATRIX,) if rest else ())
            except Exception as error:
                fault = fault_of(error)
                assert fault is None, f"{path}: {parameter.name} is of kind {word}: {fault}"
        if rest:
            try:
                called(function, named, right, (wrong,))
            except Exception as error:
                fault = fault_of(error)
                assert fault is None, f"{path}: {rest[0].name}[0] is of kind {word}: {fault}"


def test_most_functions_are_called_with_what_they_take():
    """So that what is wrong in the test above is the one argument."""
    right = 0
    for path, function, parameters in FUNCTIONS:
        named = [p for p in parameters if p.kind not in (p.VAR_POSITIONAL, p.VAR_KEYWORD)]
        rest = any(p.kind is p.VAR_POSITIONAL for p in parameters)
        arguments = {p.name: value_of(path, p.name) for p in named if p.default is p.empty}
        try:
            called(function, named, arguments, (MATRIX, MATRIX) if rest else ())
            right += 1
        except (wf.Error, TypeError, ValueError):
            continue
    assert len(FUNCTIONS) > 600 and right > 0.85 * len(FUNCTIONS), (right, len(FUNCTIONS))


@pytest.mark.parametrize(
    ("call", "text"),
    [
        (lambda: tf.pad([1], None), "tf.pad: paddings is None: a list of pairs of integers is wanted"),
        (lambda: tf.split([1, 2], "a"), "split: num_or_size_splits is a str: an integer or a list of them is wanted"),
        (lambda: tf.clip_by_norm([1.0], "a"), "rhs is of type str, of which no tensor is made"),
        (lambda: tf.map_fn(3, wf.ones(3)), "fn is 3: a function is wanted"),
        (lambda: tf.one_hot([0], {}), "tf.one_hot: depth is a dict: an integer of 64 bits is wanted"),
        (lambda: tf.eye(None), "eye: n_rows is of type NoneType: an integer is wanted"),
        (lambda: tf.add_n(object()), "tf.add_n: inputs is a object: a list of tensors is wanted"),
        (lambda: tf.nn.conv2d(wf.ones((1, 4, 4, 1)), wf.ones((2, 2, 1, 1)), 1, 3), "padding is 3: a text is wanted"),
        (lambda: tf.train.latest_checkpoint({}), "latest_checkpoint: checkpoint_dir is a dict: a path as a text"),
        (lambda: wf.while_loop(None, first, [1]), "while_loop: cond is None: a function is wanted"),
        (lambda: wf.io.load_npy(3), "load_npy: path is 3: a path as a text is wanted"),
        (lambda: wf.data.zip(3), r"zip: datasets\[0\] is 3: a data set, or what can be iterated is wanted"),
        (lambda: wf.losses.Huber(reduction={}), "Huber: reduction is a dict: a text is wanted"),
        (lambda: tf.keras.layers.Permute(3), "Permute: dims is 3: a list is wanted"),
        (lambda: wf.arange("a"), "arange: start is 'a': a number is wanted"),
        (lambda: wf.schedules.cosine_decay(wf.ones((3, 3)), 3), "initial is a weft.Tensor: a number is wanted"),
    ],
)  # fmt: skip
def test_what_is_said(call, text):
    with pytest.raises(TypeError, match=text):
        call()


def test_errors_of_the_users_functions_pass():
    def wrong(x):
        return x + None.nothing

    for call in (
        lambda: tf.map_fn(wrong, wf.ones(3)),
        lambda: tf.while_loop(lambda x: True, wrong, [1.0]),
        lambda: wf.scan(lambda c, x: (wrong(c), x), 1.0, wf.ones(3)),
        lambda: wf.py_function(wrong, [1.0], "float32"),
        lambda: tf.nest.map_structure(wrong, [1]),
    ):
        with pytest.raises(AttributeError, match="'NoneType' object has no attribute 'nothing'"):
            call()


def test_errors_name_tensorflows_parameters():
    for call, message in (
        (lambda: tf.stack(3), "stack: values is of type int"),
        (lambda: tf.stack([[1], [1, 2]]), r"values\[0\] is \(1, 1\) and values\[1\] is \(1, 2\)"),
        (lambda: tf.stack(["a"]), r"stack: values\[0\] is of type str"),
        (lambda: tf.stack([]), "stack: values is empty"),
        (lambda: tf.roll("a", 1, 0), "roll: input is of type str"),
        (lambda: tf.roll([1], 1.5, 0), "roll: shift is of type float"),
        (lambda: tf.concat(3, 0), "values is of type int"),
        (lambda: tf.matmul([[1]], [[1], [2]]), r"a is \(1, 1\) and b is \(2, 1\)"),
        (lambda: tf.reduce_sum([1], 4), r"axis 4 is out of range for input_tensor of shape \(1,\)"),
        (lambda: tf.reshape([1], [2]), r"tensor of shape \(1,\) has 1 elements"),
    ):
        for run in (call, tf.function(call)):
            with pytest.raises((wf.Error, TypeError), match=message):
                run()
