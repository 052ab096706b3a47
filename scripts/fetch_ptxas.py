"""Fetches ptxas, NVIDIA's assembler of PTX for x86-64, from PyPI.

    fetch_ptxas.py FOLDER
"""

import pathlib
import sys

import wheels

PACKAGE, MEMBER = "nvidia-cuda-nvcc==13.0.88", "nvidia/cu13/bin/ptxas"
SHA256 = "daba837a68265cae38c832d13399b61dab811891de9b8914defddef143b849f2"


def main(folder):
    folder = pathlib.Path(folder)
    program = wheels.member(PACKAGE, MEMBER, SHA256)
    folder.mkdir(parents=True, exist_ok=True)
    # Under its name it is whole.
    part = folder / "ptxas.part"
    part.write_bytes(program)
    part.chmod(0o755)
    part.rename(folder / "ptxas")


if __name__ == "__main__":
    main(sys.argv[1])
