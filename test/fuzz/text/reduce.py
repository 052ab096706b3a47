"""Makes a failing program smaller: lines first, then pairs of lines, then tokens."""

from collections.abc import Callable

from mutate import tokens_of


def reduce(text: str, fails: Callable[[str], bool], budget: int = 400) -> str:
    """The smallest program found in `budget` runs that still fails."""
    left = budget

    def still(candidate: str) -> bool:
        nonlocal left
        left -= 1
        return left >= 0 and fails(candidate)

    lines = text.splitlines()
    size = max(len(lines) // 2, 1)
    while size and left > 0:
        at = 0
        while at < len(lines) and left > 0:
            candidate = lines[:at] + lines[at + size :]
            if candidate and still("\n".join(candidate) + "\n"):
                lines = candidate
            else:
                at += size
        size //= 2
    # A block is two lines that go together.
    for begin in range(len(lines)):
        for end in range(len(lines) - 1, begin, -1):
            if end < len(lines) and lines[begin].rstrip().endswith("{") and lines[end].strip().startswith("}") and left > 0:
                candidate = lines[:begin] + lines[begin + 1 : end] + lines[end + 1 :]
                if candidate and still("\n".join(candidate) + "\n"):
                    lines = candidate
                    break
    number = 0
    while number < len(lines) and left > 0:
        spans = tokens_of(lines[number])
        for begin, end in reversed(spans):
            if left <= 0:
                break
            shorter = lines[number][:begin] + lines[number][end:]
            if still("\n".join([*lines[:number], shorter, *lines[number + 1 :]]) + "\n"):
                lines[number] = shorter
        number += 1
    return "\n".join(lines) + "\n"
