"""A Rust kernel on a tensor of PyTorch's, on a machine with a GPU:

    cargo build --release -p warpsmith-example-python
    python3 examples/python/torch_example.py

The module has no need of PyTorch: any library with `__dlpack__` will do."""

import importlib.util
import pathlib

import torch

built = pathlib.Path(__file__).parents[2] / "target/release/libwarpsmith_example.so"
spec = importlib.util.spec_from_file_location("warpsmith_example", built)
warpsmith_example = importlib.util.module_from_spec(spec)
spec.loader.exec_module(warpsmith_example)

gpu = warpsmith_example.Device(torch.cuda.current_device())
expected = 2.0 * torch.arange(1_000_000, dtype=torch.float32) + 1.0

# In PyTorch's current stream, the default one: before what PyTorch enqueues next.
x = torch.arange(1_000_000, dtype=torch.float32, device="cuda")
gpu.affine(x, 2.0, 1.0, stream=torch.cuda.current_stream())
assert torch.equal(x.cpu(), expected)

# In another stream of PyTorch's.
side = torch.cuda.Stream()
with torch.cuda.stream(side):
    y = torch.arange(1_000_000, dtype=torch.float32, device="cuda")
    gpu.affine(y, 2.0, 1.0, stream=side)
    assert torch.equal(y.cpu(), expected)

# The other way round: memory of the module as a tensor, without a copy.
z = torch.from_dlpack(gpu.array([1.0, 2.0, 3.0]))
gpu.affine(z, 10.0, 0.0, stream=torch.cuda.current_stream())
assert z.tolist() == [10.0, 20.0, 30.0]
print("a Rust kernel on PyTorch's memory: right")
