"""fit against a loop by hand, callbacks, resumed runs, histories, bars, reports, profiles."""

import json
import math

import numpy as np
import pytest

import weft as wf


class Sgd(wf.Module):
    def __init__(self, rate=0.1):
        super().__init__()
        self.rate = rate

    def apply_gradients(self, pairs):
        for gradient, variable in pairs:
            variable.assign_sub(self.rate * gradient)


class Linear(wf.Module):
    def __init__(self):
        super().__init__()
        self.w = wf.Variable([[0.0], [0.0]])
        self.b = wf.Variable([0.0])

    def __call__(self, x):
        return x @ self.w + self.b


class Error(wf.Module):
    """The mean absolute error."""

    def __init__(self):
        super().__init__()
        self.sum, self.count = wf.Variable(0.0), wf.Variable(0.0)

    def update(self, y, predictions):
        self.sum.assign_add(wf.sum(wf.abs(y - predictions)))
        self.count.assign_add(wf.cast(wf.size(y, 0), "float32"))

    def result(self):
        return self.sum.value() / self.count.value()

    def reset(self):
        self.sum.assign(0.0)
        self.count.assign(0.0)


def squared(y, p):
    return wf.mean(wf.square(y - p))


def arrays(n=50):
    xs = np.random.default_rng(1).normal(size=(n, 2)).astype(np.float32)
    return xs, (xs @ [[2.0], [-1.0]] + 0.5).astype(np.float32)


def batches(n=50, size=8):
    return wf.data.from_tensors(*arrays(n)).batch(size)


@pytest.mark.parametrize("compile", [True, False])
def test_fit_is_the_loop_by_hand(compile):
    net = Linear()
    history = wf.train.fit(
        net,
        batches(),
        optimizer=Sgd(),
        loss=squared,
        metrics={"error": Error()},
        validation=batches(20, 20),
        epochs=4,
        compile=compile,
        progress=False,
    )
    xs, ys = arrays()
    w, b = np.zeros((2, 1)), np.zeros(1)
    expected = {"loss": [], "error": [], "val_loss": [], "val_error": []}
    for _ in range(4):
        losses, errors = [], []
        for at in range(0, 50, 8):
            x, y = xs[at : at + 8].astype(float), ys[at : at + 8].astype(float)
            difference = x @ w + b - y
            losses.append((np.mean(difference**2), len(x)))
            errors += np.abs(difference).ravel().tolist()
            w -= 0.1 * 2 * x.T @ difference / len(x)
            b -= 0.1 * 2 * difference.mean(0)
        vx, vy = arrays(20)
        rest = vx @ w + b - vy
        expected["loss"].append(sum(a * n for a, n in losses) / 50)
        expected["error"].append(np.mean(errors))
        expected["val_loss"].append(np.mean(rest**2))
        expected["val_error"].append(np.mean(np.abs(rest)))
    assert np.allclose(net.w.numpy(), w, atol=1e-5)
    assert list(history) == ["loss", "error", "val_loss", "val_error"]
    for name, values in expected.items():
        assert np.allclose(history[name], values, rtol=1e-4, atol=1e-6)
    assert history.steps("loss") == [1, 2, 3, 4]


def test_any_iterable_and_control_flow():
    xs, ys = arrays(16)

    class Branches(Linear):
        def __call__(self, x):
            if wf.sum(x) > 1e9:
                x = x * 0
            return super().__call__(x)

    history = wf.train.fit(
        Branches(), [(xs, ys), (xs, ys)], optimizer=Sgd(), loss=squared, progress=False
    )
    assert history["loss"][0] > 0


def test_callbacks(tmp_path):
    heard, steps = [], []

    class Hears:
        def begin(self, run):
            heard.append(("begin", run.epochs))

        def step_end(self, run):
            steps.append((run.step, float(run.loss)))

        def epoch_end(self, run):
            heard.append(("epoch", run.epoch, run.history.last("loss")))
            run.add("twice", 2 * run.history.last("loss"))

        def end(self, run):
            heard.append("end")

    kept = []

    def stop(run):
        kept.append(run)
        run.stop = run.epoch == 3

    history = wf.train.fit(
        Linear(),
        batches(),
        optimizer=Sgd(),
        loss=squared,
        epochs=10,
        callbacks=[
            Hears(),
            stop,
            wf.train.csv_log(tmp_path / "log.csv"),
            wf.train.event_files(tmp_path / "events", every_steps=7),
        ],
        progress=False,
    )
    assert heard[0] == ("begin", 10) and heard[-1] == "end" and len(heard) == 5
    assert [step for step, _ in steps] == list(range(1, 22))
    assert history["twice"] == [2 * x for x in history["loss"]] and len(history["loss"]) == 3
    assert wf.train.History.from_csv(tmp_path / "log.csv")["loss"] == history["loss"]
    assert [s for s, _ in wf.summary.read_scalars(tmp_path / "events")["step/loss"]] == [7, 14, 21]
    with pytest.raises(wf.StateError, match="the run is over"):
        _ = kept[0].epoch


def test_early_stopping_restores_the_best():
    net = Linear()
    history = wf.train.fit(
        net,
        batches(),
        optimizer=Sgd(2.0),  # diverges
        loss=squared,
        epochs=20,
        callbacks=[wf.train.early_stopping("loss", patience=2)],
        progress=False,
    )
    assert len(history["loss"]) == 3 and history.best("loss")[0] == 1
    with pytest.raises(wf.OutOfRangeError, match="val_loss"):
        wf.train.fit(
            net,
            batches(),
            optimizer=Sgd(),
            loss=squared,
            callbacks=[wf.train.early_stopping()],
            progress=False,
        )


def test_a_paused_run_goes_on(tmp_path):
    def run(folder, pause):
        net, error = Linear(), Error()

        class Pause:
            def step_end(self, run):
                run.pause = run.step == pause

        history = wf.train.fit(
            net,
            wf.data.from_tensors(*arrays()).shuffle(seed=2).batch(8),
            optimizer=Sgd(),
            loss=squared,
            metrics=[("error", error)],
            epochs=3,
            checkpoints=folder,
            callbacks=[Pause()],
            progress=False,
        )
        return history, [np.asarray(v).tobytes() for v in net.variables]

    whole = run(tmp_path / "whole", -1)
    paused, _ = run(tmp_path / "paused", 10)
    assert len(paused["loss"]) == 1
    again, bits = run(tmp_path / "paused", -1)
    assert bits == whole[1] and again.history == whole[0].history


def test_bad_input():
    good = dict(optimizer=Sgd(), loss=squared, progress=False)
    for change, kind, text in [
        (dict(epochs=-1), wf.ValueError, "epochs is -1"),
        (dict(loss=3), TypeError, "the loss is a int"),
        (dict(optimizer=print), TypeError, "apply_gradients"),
        (dict(metrics=[3]), TypeError, "no metric"),
        (dict(metrics={"loss": Error()}), wf.ValueError, "called 'loss'"),
        (dict(callbacks=[3]), wf.DTypeError, "no callback"),
        (dict(loss=lambda y, p: y - p), wf.ShapeError, "must be a scalar"),
        (dict(validation=[]), wf.ValueError, "validation has no batch"),
    ]:
        with pytest.raises(kind, match=text):
            wf.train.fit(Linear(), batches(), **{**good, **change})
    with pytest.raises(wf.ValueError, match="data has no batch"):
        wf.train.fit(Linear(), [], **good)
    with pytest.raises(TypeError, match="a tuple of inputs and labels, not a tuple of 3"):
        wf.train.fit(Linear(), [(1, 2, 3)], **good)

    def broken(run):
        raise LookupError("mine")

    with pytest.raises(LookupError, match="mine"):
        wf.train.fit(Linear(), batches(), callbacks=[broken], **good)


def test_history(tmp_path):
    history = wf.train.History()
    for step in range(1, 6):
        history.add("loss", step, 1 / step)
        history.add("accuracy", step, step / 10)
    assert history["loss"][1] == 0.5 and "loss" in history and "none" not in history
    assert history.best("accuracy", goal="highest") == (5, 0.5) and history.last("loss") == 0.2
    assert dict(history.items())["accuracy"] == [0.1, 0.2, 0.3, 0.4, 0.5] and len(history) == 2
    with pytest.raises(KeyError, match="loss, accuracy"):
        history["none"]
    with pytest.raises(wf.ValueError, match="goal"):
        history.best("loss", goal="least")
    assert len(history.plot("loss", width=40, height=5).splitlines()) >= 5
    assert "loss" in repr(history)
    history.save_csv(tmp_path / "h.csv")
    assert (tmp_path / "h.csv").read_text().splitlines()[0] == "step,loss,accuracy"
    path = wf.Checkpoint(history=history).save(tmp_path)
    other = wf.train.History()
    wf.Checkpoint(history=other).restore(path).assert_consumed()
    assert other.history == history.history


def test_progress(capfd):
    seen = []
    bar = wf.train.Progress([1, 2, 3], label="epoch 1", unit="batches")
    for x in bar:
        seen.append(x)
    assert seen == [1, 2, 3] and bar.steps == 3
    assert "3/3" in bar.line(80) and "epoch 1" in capfd.readouterr().err
    with wf.train.Progress(total=2) as bar:
        bar.show("loss", wf.constant(0.5))
        bar.advance(2)
        assert "loss" in bar.line(100) and math.isfinite(bar.rate)
    with pytest.raises(wf.ValueError):
        wf.train.Progress(total=-1)


def test_notebook_bar(monkeypatch):
    import sys
    import types

    shown = []

    class Handle:
        def update(self, data, raw):
            shown.append(data["text/plain"])

    class ZMQInteractiveShell:
        pass

    module = types.ModuleType("IPython")
    module.get_ipython = ZMQInteractiveShell
    display = types.ModuleType("IPython.display")
    display.display = lambda *args, **kwargs: Handle()
    monkeypatch.setitem(sys.modules, "IPython", module)
    monkeypatch.setitem(sys.modules, "IPython.display", display)
    wf.train.fit(Linear(), batches(), optimizer=Sgd(), loss=squared, epochs=2)
    assert shown and "epoch 2/2" in shown[-1] and "7/7" in shown[-1]


def test_report_and_profile(tmp_path):
    with wf.train.trace_profile(tmp_path / "trace.json") as profile:
        history = wf.train.fit(
            Linear(), batches(), optimizer=Sgd(), loss=squared, epochs=2, progress=False
        )
    assert any(entry.kind == "data" for entry in profile.entries) and profile.seconds > 0
    assert "self" in profile.text(5) and profile.events > 10
    assert json.loads((tmp_path / "trace.json").read_text())
    wf.train.write_report(
        tmp_path / "run.html",
        history,
        title="A <title>",
        configuration={"rate": 0.1},
        confusion=np.eye(2),
        classes=["a", "b"],
        pictures=[(np.zeros((4, 4), np.float32), "black")],
        tables={"numbers": [["a", "b"], [1, 2]]},
        times={"train": 1.5},
        profile=profile,
    )
    page = (tmp_path / "run.html").read_text()
    assert "A &lt;title&gt;" in page and "<svg" in page and "black" in page and "loss" in page
    assert "rate" in page and wf.train.versions()


def test_layers_of_the_library(tmp_path):
    """A lazily built model, told that it is trained, paused and resumed."""

    def run(folder, pause):
        model = wf.Sequential(
            [wf.nn.Dense(8, activation="relu", seed=1), wf.nn.Dropout(0.3, seed=2), wf.nn.Dense(1, seed=3)]
        )

        def stop(run):
            run.pause = run.epoch == pause

        history = model.fit(
            wf.data.from_tensors(*arrays()).shuffle(seed=2).batch(10),
            optimizer=Sgd(0.05),
            loss=squared,
            epochs=6,
            checkpoints=folder,
            callbacks=[stop],
            progress=False,
        )
        return history["loss"], [np.asarray(v).tobytes() for v in model.variables]

    whole = run(tmp_path / "whole", -1)
    assert whole[0][-1] < whole[0][0]
    assert len(run(tmp_path / "parts", 3)[0]) == 3
    assert run(tmp_path / "parts", -1) == whole


@pytest.mark.parametrize("compile", [True, False])
@pytest.mark.parametrize(
    "make",
    [
        lambda: wf.optimizers.SGD(0.1, momentum=0.9),
        lambda: wf.optimizers.Adam(wf.schedules.cosine_decay(0.1, 40)),
        lambda: wf.optimizers.Adam(learning_rate=wf.Variable(0.05), average=0.9),
    ],
)
def test_an_optimizer_without_variables_goes_on_with_its_state(tmp_path, make, compile):
    def run(folder, epochs, optimizer):
        model = wf.Sequential([wf.nn.Dense(8, "relu", seed=1), wf.nn.Dropout(0.3, seed=2), wf.nn.Dense(1, seed=3)])
        history = model.fit(
            wf.data.from_tensors(*arrays()).shuffle(seed=2).batch(10),
            optimizer=optimizer,
            loss=squared,
            epochs=epochs,
            checkpoints=folder,
            compile=compile,
            progress=False,
        )
        return history["loss"], *([np.asarray(v).tobytes() for v in vs] for vs in (model.variables, optimizer.state))

    whole = run(tmp_path / "whole", 4, make())
    assert len(run(tmp_path / "parts", 2, make())[0]) == 2
    assert run(tmp_path / "parts", 4, make()) == whole
    # It is the same without checkpoints, and with the model named.
    model = wf.Sequential([wf.nn.Dense(8, "relu", seed=1), wf.nn.Dropout(0.3, seed=2), wf.nn.Dense(1, seed=3)])
    data = wf.data.from_tensors(*arrays()).shuffle(seed=2).batch(10)
    history = model.fit(data, optimizer=make(), loss=squared, epochs=4, compile=compile, progress=False)
    assert history["loss"] == whole[0]


@pytest.mark.parametrize("compile", [True, False])
def test_ctrl_c_saves_first(tmp_path, compile):
    import signal

    def run(folder, interrupt):
        net = Linear()

        class Interrupts:
            def step_end(self, run):
                if run.step == interrupt:
                    signal.raise_signal(signal.SIGINT)

        wf.train.fit(
            net,
            wf.data.from_tensors(*arrays()).shuffle(seed=2).batch(8),
            optimizer=Sgd(),
            loss=squared,
            epochs=2,
            checkpoints=folder,
            callbacks=[Interrupts()],
            compile=compile,
            progress=False,
        )
        return net.w.numpy().tobytes()

    whole = run(tmp_path / "whole", -1)
    with pytest.raises(KeyboardInterrupt):
        run(tmp_path / "cut", 5)
    assert wf.latest_checkpoint(tmp_path / "cut")
    assert run(tmp_path / "cut", -1) == whole


def test_ctrl_c_without_checkpoints():
    import signal

    class Interrupts:
        def step_end(self, run):
            signal.raise_signal(signal.SIGINT)

    with pytest.raises(KeyboardInterrupt):
        wf.train.fit(
            Linear(), batches(), optimizer=Sgd(), loss=squared, callbacks=[Interrupts()], progress=False
        )


def test_callbacks_see_the_history_that_fit_returns():
    seen = []

    def look(run):
        assert type(run.history) is wf.train.History and "loss" in run.history
        assert len(run.history["loss"]) == run.epoch == run.history.steps("loss")[-1]
        run.add("twice", 2 * run.history["loss"][-1])
        seen.append(run.history["loss"][-1])

    model, data = wf.Sequential([wf.nn.Dense(1)]), [(wf.ones((2, 1)), wf.ones((2, 1)))]
    loss = wf.losses.mean_squared_error
    history = model.fit(
        data, optimizer=wf.optimizers.SGD(0.1), loss=loss, epochs=3, callbacks=[look], progress=False
    )
    assert history["loss"] == seen and history["twice"] == [2 * each for each in seen]
    for name in ("epoch", "epochs", "step", "loss", "history", "add", "stop", "pause"):
        assert getattr(wf.train.Run, name).__doc__ and f"`{name}" in wf.train.Run.__doc__


def test_a_metric_of_extrema_and_a_last_batch_that_is_smaller():
    """The sizes of a trace for one call are known after all, where what is empty is looked for."""

    class Largest(wf.metrics.Metric):
        def __init__(self):
            super().__init__()
            self.value = self.add_weight()

        def update(self, labels, predictions):
            self.value.assign(wf.maximum(self.value, wf.max(predictions) - wf.min(predictions)))

        def result(self):
            return self.value.value()

    x = np.random.default_rng(0).normal(size=(23, 5)).astype("float32")
    model = wf.nn.Sequential([wf.nn.Dense(3)])
    data = wf.data.from_tensors(x, np.arange(23, dtype="int32") % 3).batch(5)
    history = wf.train.fit(
        model, data, optimizer=wf.optimizers.SGD(0.0), loss=wf.losses.sparse_categorical_cross_entropy, metrics={"largest": Largest()}, progress=False
    )
    scores = model(x).numpy()
    wanted = max(np.ptp(scores[i : i + 5]) for i in range(0, 23, 5))
    assert history["largest"][-1] == pytest.approx(float(wanted), rel=1e-6)
