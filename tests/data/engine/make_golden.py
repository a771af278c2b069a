#!/usr/bin/env python3
"""Golden files of the engine tests, from Hugging Face transformers in f32.

    tests/data/engine/make_golden.py tiny           # golden_logits.json
    tests/data/engine/make_golden.py smollm MODEL   # golden_greedy.json

Needs torch, transformers, numpy and (for smollm) gguf and accelerate. The weights of the tiny
models come from a formula that tests/engine/model/golden_model.cpp repeats, so
no weights are stored.
"""
import json
import pathlib
import random
import sys

import numpy as np
import torch

HERE = pathlib.Path(__file__).resolve().parent
M64 = (1 << 64) - 1


def fnv1a(text):
    h = 0xCBF29CE484222325
    for byte in text.encode():
        h = ((h ^ byte) * 0x100000001B3) & M64
    return h


def values(name, shape, scale, offset):
    """offset + scale * u; u uniform in [-1, 1) by SplitMix64, all in f32."""
    n = int(np.prod(shape))
    with np.errstate(over="ignore"):
        z = np.uint64(fnv1a(name)) + np.arange(1, n + 1, dtype=np.uint64) \
            * np.uint64(0x9E3779B97F4A7C15)
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        z = z ^ (z >> np.uint64(31))
    u = (z >> np.uint64(40)).astype(np.float32) * np.float32(2.0 ** -23) \
        - np.float32(1)
    return (np.float32(offset) + np.float32(scale) * u).reshape(shape)


def scale_of(name, shape):
    """(scale, offset): exact in f32, large enough that errors show."""
    if name.endswith("norm.weight"):
        return 0.5, 1.0
    if name.endswith("bias"):
        return 3.0 if "k_proj" in name else 1.0, 0.0
    if "embed_tokens" in name:
        return 1.0, 0.0
    return 0.25, 0.0


BASE = dict(hidden_size=72, intermediate_size=112, num_hidden_layers=3,
            num_attention_heads=6, num_key_value_heads=2, head_dim=32,
            vocab_size=96, max_position_embeddings=256, rms_norm_eps=1e-5,
            rope_theta=10000.0, tie_word_embeddings=False,
            bos_token_id=1, eos_token_id=2, hidden_act="silu",
            torch_dtype="float32")


def case(name, kind, n_ids, rows, **changes):
    arch = {"llama": "LlamaForCausalLM", "mistral": "MistralForCausalLM",
            "qwen2": "Qwen2ForCausalLM", "qwen3": "Qwen3ForCausalLM"}[kind]
    return dict(name=name, n_ids=n_ids, rows=rows,
                config={"architectures": [arch], "model_type": kind, **BASE,
                        **changes})


CASES = [
    case("llama_plain", "llama", 60, [0, 1, 17, 59]),
    case("llama_tied_biases", "llama", 40, [0, 1, 39], head_dim=16,
         tie_word_embeddings=True, attention_bias=True, mlp_bias=True),
    case("llama_linear", "llama", 100, [0, 31, 32, 33, 99],
         rope_scaling=dict(rope_type="linear", factor=4.0)),
    case("llama_llama3", "llama", 200, [0, 31, 33, 120, 199],
         rope_theta=500000.0,
         rope_scaling=dict(rope_type="llama3", factor=8.0,
                           low_freq_factor=1.0, high_freq_factor=4.0,
                           original_max_position_embeddings=32)),
    case("llama_yarn", "llama", 200, [0, 31, 33, 120, 199],
         rope_scaling=dict(rope_type="yarn", factor=8.0,
                           original_max_position_embeddings=32)),
    case("llama_yarn_factor_one", "llama", 120, [1, 119],
         rope_scaling=dict(rope_type="yarn", factor=4.0, attention_factor=1.0,
                           original_max_position_embeddings=64)),
    case("mistral_window_8", "mistral", 50, [0, 5, 6, 7, 8, 9, 10, 49],
         sliding_window=8),
    case("mistral_window_4", "mistral", 8, [3, 4, 5, 7], sliding_window=4),
    case("mistral_no_window", "mistral", 20, [19], sliding_window=None),
    case("qwen2_biases", "qwen2", 60, [0, 1, 30, 59], rope_theta=1000000.0),
    case("qwen3_norms", "qwen3", 60, [0, 1, 30, 59], rope_theta=1000000.0,
         rms_norm_eps=1e-6),
]


def tiny():
    from transformers import AutoConfig, AutoModelForCausalLM
    out = []
    for one in CASES:
        config = dict(one["config"])
        kind = config.pop("model_type")
        model = AutoModelForCausalLM.from_config(
            AutoConfig.for_model(kind, **config), attn_implementation="eager",
            dtype=torch.float32).eval()
        tensors = []
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                shape = list(parameter.shape)
                scale, offset = scale_of(name, shape)
                parameter.copy_(torch.from_numpy(
                    values(name, shape, scale, offset)))
                tensors.append([name, shape, scale, offset])
            draw = random.Random(one["name"])
            ids = [draw.randrange(96) for _ in range(one["n_ids"])]
            logits = model(torch.tensor([ids])).logits[0].double().numpy()
        print(one["name"], "logits up to", np.abs(logits).max().round(2))
        out.append(dict(
            name=one["name"], config=one["config"], tensors=tensors, ids=ids,
            rows=one["rows"],
            logits=[[float(f"{v:.6f}") for v in logits[row]]
                    for row in one["rows"]]))
    text = ",\n".join(json.dumps(o, separators=(",", ":")) for o in out)
    (HERE / "golden_logits.json").write_text(f"[\n{text}\n]\n")


# Prompts of our own: made-up facts in whole sentences.
PLACES = "Orvel Tamsin Brackwater Quillon Hestia Marrowfield Dunmere".split()
PEOPLE = "Ada Brandt,Ivo Marsh,Lena Okafor,Rui Castell,Mira Holt".split(",")
THINGS = ("lighthouse,tram line,paper mill,observatory,salt works,"
          "botanical garden,clock tower").split(",")


def passage(draw):
    place, person, thing = (draw.choice(PLACES), draw.choice(PEOPLE),
                            draw.choice(THINGS))
    year = draw.randrange(1710, 1990)
    return (f"The {thing} of {place} was opened in {year} by {person}, who "
            f"had lived in {draw.choice(PLACES)} before. It cost "
            f"{draw.randrange(2, 90)},{draw.randrange(100, 999)} crowns and "
            f"took {draw.randrange(2, 19)} years to build. Visitors came from "
            f"{draw.choice(PLACES)} by boat; the journey of "
            f"{draw.randrange(12, 300)} miles lasted "
            f"{draw.choice(['a day', 'two days', 'most of a week'])}. ")


def smollm(path):
    from transformers import AutoModelForCausalLM, AutoTokenizer
    path = pathlib.Path(path)
    model = AutoModelForCausalLM.from_pretrained(
        path.parent, gguf_file=path.name, dtype=torch.float32,
        attn_implementation="sdpa").eval()
    words = AutoTokenizer.from_pretrained(path.parent, gguf_file=path.name)
    # The long one is the second, so that a short run has it too.
    lengths = [24, 4000, 64, 200, 513, 900, 8, 33, 100, 127, 128, 129, 256,
               400, 512, 700, 1024, 1500, 2048, 3000]
    out = []
    for number, length in enumerate(lengths):
        draw = random.Random(f"prompt {number}")
        text = ""
        while len(words(text)["input_ids"]) < length:
            text += passage(draw)
        end = words("\nQuestion: When was it opened?\nAnswer:",
                    add_special_tokens=False)["input_ids"]
        ids = words(text)["input_ids"][:max(4, length - len(end))] + end
        ids = ids[:length]
        greedy, margins = [], []
        with torch.no_grad():
            cache, step = None, torch.tensor([ids])
            for _ in range(16):
                got = model(step, past_key_values=cache, use_cache=True,
                            logits_to_keep=1)
                cache = got.past_key_values
                top = got.logits[0, -1].topk(2)
                greedy.append(int(top.indices[0]))
                margins.append(float(top.values[0] - top.values[1]))
                step = torch.tensor([[greedy[-1]]])
        print(length, repr(words.decode(greedy)), "least margin",
              round(min(margins), 4), flush=True)
        out.append(dict(ids=ids, greedy=greedy,
                        least_margin=round(min(margins), 5)))
    text = ",\n".join(json.dumps(o, separators=(",", ":")) for o in out)
    (HERE / "golden_greedy.json").write_text(f"[\n{text}\n]\n")


if __name__ == "__main__":
    if sys.argv[1:] == ["tiny"]:
        tiny()
    elif len(sys.argv) == 3 and sys.argv[1] == "smollm":
        smollm(sys.argv[2])
    else:
        sys.exit(__doc__)
