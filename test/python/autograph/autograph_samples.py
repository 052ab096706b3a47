"""Functions for the tests that need a module of their own."""

import functools


def twice(f):
    @functools.wraps(f)
    def wrapper(*args, **kwargs):
        if args[0] > 100:
            return args[0]
        return f(f(*args, **kwargs), **kwargs)

    return wrapper


@twice
def decorated(x, *, by=1):
    if x > 0:
        return x + by
    return x - by


def helper(x):
    return x * 2 if x > 0 else x


def calls_all(x, fs):
    for f in fs:
        x = f(x)
    return x
