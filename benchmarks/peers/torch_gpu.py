"""PyTorch's side of the rows of the group gpu: a line of JSON for each, medians of five repeats, as benchmarks/GpuRows.cpp measures them.

Compiled rows are of torch.compile, of which products and attention need none; f32 products are without tf32.
"""

import json
import statistics
import sys
import time

import torch
import torch.nn.functional as F
from torch import nn

torch.backends.cuda.matmul.allow_tf32 = False
torch.backends.cudnn.allow_tf32 = False
WITH = f"PyTorch {torch.__version__}"
DEVICE = torch.device("cuda")


def seconds_of(work, budget=0.1):
    """Of one call, of many in a row and their end; warmed up."""
    for _ in range(3):
        work()
    torch.cuda.synchronize()
    count = 1
    while True:
        start = time.perf_counter()
        for _ in range(count):
            work()
        torch.cuda.synchronize()
        spent = time.perf_counter() - start
        if spent >= budget:
            return spent / count
        count *= 8 if spent < budget / 16 else 2


def row(name, unit, figure, work):
    """`figure(seconds)` is the value in the unit."""
    try:
        value = statistics.median(figure(seconds_of(work)) for _ in range(5))
        print(json.dumps({"name": name, "value": value, "unit": unit, "with": WITH}), flush=True)
    except Exception as error:  # one row that cannot be measured does not take the others with it
        print(f"{name}: {error}", file=sys.stderr)
    torch.cuda.empty_cache()


def drawn(*shape, dtype=torch.float32):
    return torch.randn(*shape, device=DEVICE, dtype=torch.float32).to(dtype)


def gigabytes(tensor, times):
    moved = times * tensor.numel() * tensor.element_size()
    return lambda seconds: 1e-9 * moved / seconds


class Encoder(nn.Module):
    def __init__(self, layers, size):
        super().__init__()
        layer = nn.TransformerEncoderLayer(size, 8, 4 * size, dropout=0.0, activation="gelu", batch_first=True)
        self.layers = nn.TransformerEncoder(layer, layers, enable_nested_tensor=False)
        self.head = nn.Linear(size, 10)

    def forward(self, x):
        return self.head(self.layers(x).mean(1))


def encoder_step(mode):
    model = Encoder(6, 512).to(DEVICE)
    adam = torch.optim.Adam(model.parameters(), lr=1e-3, capturable=True, fused=True)
    x, labels = drawn(32, 128, 512), torch.arange(32, device=DEVICE) % 10
    forward = torch.compile(lambda a, b: F.cross_entropy(model(a), b), mode=mode)

    def step():
        adam.zero_grad(set_to_none=True)
        loss = forward(x, labels)
        loss.backward()
        adam.step()
        return loss

    return step


def main():
    x, y = drawn(64 << 20), drawn(64 << 20)
    row("gpu_copy", "GB/s", gigabytes(x, 2), lambda: y.copy_(x))
    row("gpu_add", "GB/s", gigabytes(x, 3), lambda: x + y)
    chain = torch.compile(lambda a: torch.tanh(torch.exp(a) * 0.5))
    row("gpu_chain", "GB/s", gigabytes(x, 2), lambda: chain(x))
    del x, y
    rows, gamma, beta = drawn(16384, 4096), drawn(4096), drawn(4096)
    softmax = torch.compile(lambda a: torch.softmax(a, -1))
    row("gpu_softmax", "GB/s", gigabytes(rows, 2), lambda: softmax(rows))
    norm = torch.compile(lambda a, g, b: F.layer_norm(a, (4096,), g, b))
    row("gpu_layer_norm", "GB/s", gigabytes(rows, 2), lambda: norm(rows, gamma, beta))
    inputs = [one.clone().requires_grad_() for one in (rows, gamma, beta)]
    dy = drawn(16384, 4096)
    row("gpu_layer_norm_grad", "GB/s", gigabytes(rows, 3), lambda: torch.autograd.grad(norm(*inputs), inputs, dy))
    del rows, dy, inputs
    many = drawn(1 << 28)
    row("gpu_sum", "GB/s", gigabytes(many, 1), lambda: many.sum())
    del many
    for name, dtype, n in (("f32", torch.float32, 4096), ("f64", torch.float64, 4096), ("bf16", torch.bfloat16, 8192)):
        a, b = drawn(n, n, dtype=dtype), drawn(n, n, dtype=dtype)
        row(f"gpu_matmul_{name}", "TFLOP/s", lambda seconds, n=n: 2e-12 * n**3 / seconds, lambda a=a, b=b: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = True
    a, b = drawn(4096, 4096), drawn(4096, 4096)
    row("gpu_matmul_tf32", "TFLOP/s", lambda seconds: 2e-12 * 4096**3 / seconds, lambda: a @ b)
    torch.backends.cuda.matmul.allow_tf32 = False
    for name, dtype in (("f32", torch.float32), ("bf16", torch.bfloat16)):
        image = drawn(64, 128, 28, 28, dtype=dtype).to(memory_format=torch.channels_last)
        kernel = drawn(128, 128, 3, 3, dtype=dtype).to(memory_format=torch.channels_last)
        row(f"gpu_conv_{name}", "TFLOP/s", lambda seconds: 2e-12 * 9 * 64 * 28 * 28 * 128 * 128 / seconds,
            lambda image=image, kernel=kernel: F.conv2d(image, kernel, padding=1))
    q, k, v = (drawn(4, 32, 4096, 128, dtype=torch.bfloat16) for _ in range(3))
    attend, product = F.scaled_dot_product_attention, 2e-12 * 4 * 32 * 128 * 4096**2
    row("gpu_attention", "TFLOP/s", lambda seconds: 2 * product / seconds, lambda: attend(q, k, v))
    row("gpu_attention_causal", "TFLOP/s", lambda seconds: product / seconds, lambda: attend(q, k, v, is_causal=True))
    inputs = [one.clone().requires_grad_() for one in (q, k, v)]
    row("gpu_attention_grad", "TFLOP/s", lambda seconds: 7 * product / seconds, lambda: torch.autograd.grad(attend(*inputs), inputs, q))
    one, two = drawn(1), drawn(1)
    row("gpu_add_one", "us", lambda seconds: 1e6 * seconds, lambda: one + two)
    start = time.perf_counter()
    step = encoder_step("reduce-overhead")
    step().item()
    print(json.dumps({"name": "gpu_encoder_first", "value": time.perf_counter() - start, "unit": "s", "with": WITH}), flush=True)
    row("gpu_encoder_step", "us", lambda seconds: 1e6 * seconds, step)


main()
