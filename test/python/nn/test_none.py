"""None instead of each tensor that a call of a layer, loss, metric or op needs: refused by its name."""

import os
import subprocess
import sys

import weft as wf

# In a process of its own, which says what it comes to: a fault would end it.
PROGRAM = """
import inspect
import weft as wf

nn, X = wf.nn, wf.ones((2, 3))
MADE = {
    "Bidirectional": (nn.GRU(2),), "Dropout": (0.5,), "Embedding": (3, 2), "Reshape": ((3,),), "MultiHeadAttention": (4, 2),
    "TransformerEncoderLayer": (8,), "TransformerDecoderLayer": (8,), "GroupNorm": (1,), "ConfusionMatrix": (3,),
}

def objects(module, kind):
    for name in module.__all__:
        cls = getattr(module, name)
        if isinstance(cls, type) and issubclass(cls, kind) and cls is not kind:
            if kind is nn.Layer and "Pooling" in name or name in ("BatchNorm", "LayerNorm", "RMSNorm", "Flatten"):
                yield name, cls()
            elif name in MADE:
                yield name, cls(*MADE[name])
            elif kind is nn.Layer and "Conv" in name:
                yield name, cls(2) if "Depthwise" in name else cls(2, 2)
            else:
                yield name, cls(2) if kind is nn.Layer else cls()

count = 0
def refused(what, call, *args):
    global count
    count += 1
    print("call", what, flush=True)
    try:
        call(*args)
    except TypeError as error:
        if "None" not in str(error):
            print("WRONG", what, error)
    else:
        print("WRONG", what, "took None")

for name, layer in objects(nn, nn.Layer):
    if name == "TransformerDecoderLayer":
        refused(name, layer, None, wf.ones((2, 3, 8)))
        refused(name, layer, wf.ones((2, 3, 8)), None)
    else:
        refused(name, layer, None)
        refused(f"{name} while tracing", wf.function(lambda: layer(None)))
for cell in (nn.LSTMCell(2), nn.LSTM(2)):
    x = X if isinstance(cell, nn.LSTMCell) else wf.ones((2, 4, 3))
    refused("state", cell, x, [None, wf.zeros((2, 2))])
    refused("state", cell, x, [wf.zeros((2, 2)), None])
refused("state", nn.GRU(2), wf.ones((2, 4, 3)), [None])
for name, metric in objects(wf.metrics, wf.metrics.Metric):
    if name == "Mean":
        refused(name, metric, None)
        refused(name, metric.update, None)
    else:
        for args in ((None, X), (X, None), (None, None)):
            refused(name, metric, *args)
            refused(name, metric.update, *args)
for name, loss in objects(wf.losses, wf.losses.Loss):
    for args in ((None, X), (X, None), (None, None)):
        refused(name, loss, *args)
functions = [getattr(wf.losses, n) for n in wf.losses.__all__] + [getattr(nn, n) for n in nn.__all__]
functions += [wf.metrics.accuracy, *(getattr(wf, n) for n in wf.__all__)]
for function in functions:
    if not inspect.isbuiltin(function):
        continue
    parameters = inspect.signature(function).parameters.values()
    needed = [p.name for p in parameters if p.default is p.empty and p.kind is p.POSITIONAL_OR_KEYWORD]
    tensors = [n for n in needed if n in TENSORS]
    for none in tensors:
        refused(f"{function.__name__} {none}", lambda: function(**{n: None if n == none else X for n in needed}))
print("calls:", count)
"""
TENSORS = {
    "x", "y", "a", "b", "lhs", "rhs", "labels", "targets", "predictions", "scores", "logits", "anchor", "positive",
    "negative", "query", "key", "value", "indices", "condition", "input", "updates", "kernel", "filter",
}  # fmt: skip


def test_none_is_refused():
    environment = {**os.environ, "PYTHONPATH": os.path.dirname(os.path.dirname(wf.__file__))}
    code = f"TENSORS = {TENSORS!r}\n{PROGRAM}"
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True, text=True, timeout=100)
    lines = done.stdout.splitlines()
    assert done.returncode == 0, (lines[-1:], done.stderr[-2000:])
    assert [line for line in lines if line.startswith("WRONG")] == []
    assert int(lines[-1].removeprefix("calls: ")) > 300
