"""Smoke."""
from double import *
import numpy as np

def test_if():
    def f(x):
        if x > 0:
            y = x * 2
        else:
            y = -x
        return y
    p = agree(f, (i32(3),), (i32(-3),))
    assert 'if' in p.names()

def test_while():
    def f(x):
        y = 0
        while x > 0:
            x = x - 1
            y += 2
        return x, y
    agree(f, (i32(3),), (i32(-3),))
