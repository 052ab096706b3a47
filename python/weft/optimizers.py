"""Optimizers: `weft.optimizers`.

    adam = wf.optimizers.Adam(model, learning_rate=1e-3)
    with wf.GradientTape() as tape:
        loss = compute_loss(model(x), y)
    adam.apply_gradients(tape.gradient(loss, model))

One that is made without a model or variables, `Adam(1e-3)`, is for those of its first
`apply_gradients(zip(gradients, variables))`. A learning rate is a number, a schedule of
`weft.schedules`, a function of the number of updates, or a Variable, which may be assigned.

An optimizer of the user derives from `Optimizer` and has a method `update_step`; a subclass of one of the
library may have an `apply_gradients` of its own, which `minimize` and `fit` call.
"""

from weft import _optimizers
from weft._bases import Optimizer as Optimizer
from weft._optimizers import *  # noqa: F403

__all__ = ["Optimizer"]
__all__ += _optimizers.__all__
