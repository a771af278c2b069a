#!/usr/bin/env python3
"""Golden blocks of the quantised formats, widened by gguf's own reference.

    tests/data/kernels/make_golden.py

Writes <type>.blocks (the bytes as in a GGUF file) and <type>.values (f32,
little endian). Needs numpy and gguf. Two blocks are extreme, the rest random.
"""
import pathlib

import numpy as np
from gguf import GGMLQuantizationType as kind
from gguf import quants

HERE = pathlib.Path(__file__).resolve().parent
# Bytes of a block and the places of its f16 numbers.
FORMATS = {
    kind.Q8_0: (34, [0]),
    kind.Q4_0: (18, [0]),
    kind.Q4_1: (20, [0, 2]),
    kind.Q4_K: (144, [0, 2]),
    kind.Q6_K: (210, [208]),
}
# Ordinary, negative, subnormal, the greatest, zero.
SCALES = np.array([0.0123, -0.75, 3e-6, 65504, 0], np.float16)


def blocks_of(form, n_blocks, rng):
    size, halves = FORMATS[form]
    blocks = rng.integers(0, 256, (n_blocks, size), np.uint8)
    blocks[0] = 0xFF
    blocks[1] = 0x80
    for at in halves:
        scale = rng.normal(0, 0.02, n_blocks).astype(np.float16)
        scale[: len(SCALES)] = np.roll(SCALES, at)
        blocks[:, at : at + 2] = scale.view(np.uint8).reshape(n_blocks, 2)
    return blocks


def main():
    rng = np.random.default_rng(20240607)
    for form in FORMATS:
        n_blocks = 12 if form.name.endswith("K") else 48
        blocks = blocks_of(form, n_blocks, rng)
        values = quants.dequantize(blocks, form).astype("<f4")
        name = form.name.lower()
        (HERE / f"{name}.blocks").write_bytes(blocks.tobytes())
        (HERE / f"{name}.values").write_bytes(values.tobytes())


if __name__ == "__main__":
    main()
