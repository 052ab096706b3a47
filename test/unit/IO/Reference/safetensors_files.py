"""Makes the safetensors files beside this script with the package of that name: pip install safetensors==0.5.3 numpy"""
import json
import os
import struct

import numpy as np
from safetensors import serialize_file
from safetensors.numpy import save_file

here = os.path.dirname(os.path.abspath(__file__))


def at(name):
    return os.path.join(here, name)


def values(count):
    return np.array([((i * 37) % 101 - 50) / 32 for i in range(count)])


save_file(
    {
        "scalar": np.array(2.5, np.float32),
        "empty": np.zeros((0, 3), np.float32),
        "f32": values(6).astype(np.float32).reshape(2, 3),
        "f64": values(4).reshape(2, 2),
        "i32": np.array([-(2**31), 0, 2**31 - 1], np.int32),
        "i64": np.array([-(2**63), 2**63 - 1], np.int64),
        "bool": np.array([True, False, True]),
        "a name with \"quotes\", a \\ and ü": np.array([7], np.int32),
    },
    at("dtypes.safetensors"),
    metadata={"format": "np", "note": "ü \"quoted\""},
)


def raw(dtype, shape, data):
    return {"dtype": dtype, "shape": shape, "data": data}


# The numbers that halves can go wrong at: zeros, the least subnormal, the largest one, the least normal number, 1, the
# largest, infinities, a NaN.
f16 = [0x0000, 0x8000, 0x0001, 0x03FF, 0x0400, 0x3C00, 0x7BFF, 0xFC00, 0x7E00]
bf16 = [0x0000, 0x8000, 0x0001, 0x3F80, 0xC049, 0x7F7F, 0x7F80, 0x7FC0]
serialize_file(
    {
        "f16": raw("float16", [len(f16)], struct.pack(f"<{len(f16)}H", *f16)),
        "bf16": raw("bfloat16", [len(bf16)], struct.pack(f"<{len(bf16)}H", *bf16)),
        "u8": raw("uint8", [3], bytes([0, 127, 255])),
        "i8": raw("int8", [2], struct.pack("<2b", -128, 127)),
        "u16": raw("uint16", [2], struct.pack("<2H", 0, 65535)),
        "i16": raw("int16", [2], struct.pack("<2h", -32768, 32767)),
        "u32": raw("uint32", [2], struct.pack("<2I", 1, 2**32 - 1)),
        "u64": raw("uint64", [1], struct.pack("<Q", 2**64 - 1)),
    },
    at("narrow.safetensors"),
)

save_file({"fc.weight": values(6).astype(np.float32).reshape(3, 2)}, at("model-00001-of-00002.safetensors"))
save_file({"fc.bias": values(2).astype(np.float32)}, at("model-00002-of-00002.safetensors"))
with open(at("model.safetensors.index.json"), "w") as file:
    json.dump(
        {
            "metadata": {"total_size": 32, "more": {"nested": [1, 2.5, None, True, "text"]}},
            "weight_map": {
                "fc.weight": "model-00001-of-00002.safetensors",
                "fc.bias": "model-00002-of-00002.safetensors",
            },
        },
        file,
    )
