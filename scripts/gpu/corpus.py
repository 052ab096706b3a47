"""The instruction corpus: kernels around one instruction each, with operands and the bits that the emulator makes of them, which a
driver runs again. emulator_tests writes it (WEFT_GPU_CORPUS)."""

import json
import re
import struct

from driver import DriverError, Refused

MOST_LISTED = 60  # differences of a form


def read(path):
    with open(path) as file:
        return [json.loads(line) for line in file]


def replay(driver, corpus):
    """Runs all of it: forms by name with their evaluations, how many differed, and some of these; and forms that the driver does not take,
    with its words."""
    forms, refused = {}, {}
    for one in corpus:
        ptx = re.sub(r"^\.target .*$", f".target {driver.chip}", one["ptx"], flags=re.M)
        operands = [bytes.fromhex(text) for text in one["operands"]]
        wanted = bytes.fromhex(one["result"])
        addresses = [driver.put(data) for data in (bytes(len(wanted)), *operands)]
        try:
            driver.run(ptx, "k", (one["rows"] + 127) // 128, 128, [one["rows"], *(address.value for address in addresses)])
            found = driver.get(addresses[0], len(wanted))
        except Refused as error:
            refused[one["form"]] = str(error)
            continue
        except DriverError as error:
            raise DriverError(f"{one['form']}: {error}") from error
        finally:
            for address in addresses:
                driver.free(address)
        form = forms.setdefault(one["form"], {"rows": 0, "different": 0})
        form["rows"] += one["rows"]
        if found == wanted:
            continue
        width = len(wanted) // one["rows"]
        for row in range(one["rows"]):
            part = slice(row * width, (row + 1) * width)
            if found[part] == wanted[part]:
                continue
            form["different"] += 1
            examples = form.setdefault("examples", [])
            if len(examples) < MOST_LISTED:
                size = [len(data) // one["rows"] for data in operands]
                given = [data[row * n:(row + 1) * n][::-1].hex() for data, n in zip(operands, size)]
                examples.append(f"of {' '.join(given)}: {found[part][::-1].hex()} instead of {wanted[part][::-1].hex()}")
    return forms, refused
