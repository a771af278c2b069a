#!/usr/bin/env python3
"""Golden files of the model file tests: make_golden.py (no arguments).

rope.json      frequencies and magnitudes of Hugging Face transformers, f32
llama_shards/  a tiny random Llama saved by transformers, in shards
llama.gguf     the same model by the `gguf` package (q and k in that format's
               order); transformers loads it back to the same weights

Needs torch, transformers, accelerate, safetensors, numpy, gguf.
"""
import json
import pathlib
import shutil
import tempfile

import gguf
import numpy as np
import torch
from transformers import AutoConfig, AutoModelForCausalLM

HERE = pathlib.Path(__file__).resolve().parent
POSITIONS = [0, 1, 1000, 8192, 20000]

# name, kind, head_dim, changes of the configuration
ROPE_CASES = [
    ("plain", "llama", 64, dict(rope_theta=10000.0)),
    ("plain_100000", "llama", 64, dict(rope_theta=100000.0)),
    ("plain_odd_pairs", "llama", 22, dict(rope_theta=10000.0)),
    ("qwen_million", "qwen2", 128, dict(rope_theta=1000000.0)),
    ("no_theta", "llama", 32, dict()),
    ("linear_4", "llama", 64,
     dict(rope_theta=10000.0,
          rope_scaling=dict(type="linear", factor=4.0))),
    ("linear_2_5", "mistral", 80,
     dict(rope_theta=10000.0,
          rope_scaling=dict(rope_type="linear", factor=2.5))),
    ("llama_3_1", "llama", 128,
     dict(rope_theta=500000.0, max_position_embeddings=131072,
          rope_scaling=dict(rope_type="llama3", factor=8.0,
                            low_freq_factor=1.0, high_freq_factor=4.0,
                            original_max_position_embeddings=8192))),
    ("llama_3_2", "llama", 64,
     dict(rope_theta=500000.0, max_position_embeddings=131072,
          rope_scaling=dict(rope_type="llama3", factor=32.0,
                            low_freq_factor=1.0, high_freq_factor=4.0,
                            original_max_position_embeddings=8192))),
    ("yarn_qwen", "qwen2", 128,
     dict(rope_theta=1000000.0, max_position_embeddings=131072,
          rope_scaling=dict(type="yarn", factor=4.0,
                            original_max_position_embeddings=32768))),
    ("yarn_64", "llama", 128,
     dict(rope_theta=10000.0, max_position_embeddings=262144,
          rope_scaling=dict(rope_type="yarn", factor=64.0,
                            original_max_position_embeddings=4096))),
    ("yarn_64_factor_one", "llama", 128,
     dict(rope_theta=10000.0, max_position_embeddings=262144,
          rope_scaling=dict(rope_type="yarn", factor=64.0,
                            attention_factor=1.0,
                            original_max_position_embeddings=4096))),
    ("yarn_mscale", "llama", 64,
     dict(rope_theta=10000.0, max_position_embeddings=163840,
          rope_scaling=dict(rope_type="yarn", factor=40.0, mscale=0.707,
                            mscale_all_dim=1.0, beta_fast=32, beta_slow=1,
                            original_max_position_embeddings=4096))),
    ("yarn_not_truncated", "llama", 64,
     dict(rope_theta=150000.0, max_position_embeddings=131072,
          rope_scaling=dict(rope_type="yarn", factor=32.0, truncate=False,
                            beta_fast=48.0, beta_slow=2.0,
                            original_max_position_embeddings=4096))),
    ("yarn_parameters_5", "qwen3", 128,
     dict(max_position_embeddings=40960,
          rope_parameters=dict(rope_type="yarn", factor=4.0,
                               rope_theta=1000000.0,
                               original_max_position_embeddings=10240))),
]

BASE = dict(hidden_size=96, intermediate_size=64, num_hidden_layers=1,
            num_attention_heads=3, num_key_value_heads=1, vocab_size=8,
            max_position_embeddings=4096, rms_norm_eps=1e-5)


def rope():
    out = []
    for name, kind, head_dim, changes in ROPE_CASES:
        given = {**BASE, "head_dim": head_dim, **changes}
        config = AutoConfig.for_model(kind, **json.loads(json.dumps(given)))
        model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
        turn = model.model.rotary_emb
        positions = torch.tensor([POSITIONS])
        cos, sin = turn(torch.zeros(1), positions)
        pairs = head_dim // 2
        out.append(dict(
            name=name, config={"model_type": kind, **given},
            frequencies=[float(v) for v in turn.inv_freq],
            magnitude=float(turn.attention_scaling), positions=POSITIONS,
            cos=[[float(f"{v:.7g}") for v in row[:pairs]] for row in cos[0]],
            sin=[[float(f"{v:.7g}") for v in row[:pairs]] for row in sin[0]]))
        print(name, out[-1]["magnitude"])
    text = ",\n".join(json.dumps(o, separators=(",", ":")) for o in out)
    (HERE / "rope.json").write_text(f"[\n{text}\n]\n")


LLAMA = dict(hidden_size=24, intermediate_size=40, num_hidden_layers=2,
             num_attention_heads=6, num_key_value_heads=2, head_dim=8,
             vocab_size=20, max_position_embeddings=128, rms_norm_eps=1e-6,
             rope_theta=20000.0, tie_word_embeddings=False, bos_token_id=1,
             eos_token_id=2)


def to_neighbours(weight, heads):
    """Rows of a head from halves (j, j + d/2) to pairs (2j, 2j + 1)."""
    d = weight.shape[0] // heads
    return weight.reshape(heads, 2, d // 2, -1).swapaxes(1, 2).reshape(
        weight.shape)


def write_gguf(model, path):
    names = gguf.get_tensor_name_map(gguf.MODEL_ARCH.LLAMA,
                                     LLAMA["num_hidden_layers"])
    to = gguf.GGUFWriter(path, "llama")
    to.add_block_count(LLAMA["num_hidden_layers"])
    to.add_context_length(LLAMA["max_position_embeddings"])
    to.add_embedding_length(LLAMA["hidden_size"])
    to.add_feed_forward_length(LLAMA["intermediate_size"])
    to.add_head_count(LLAMA["num_attention_heads"])
    to.add_head_count_kv(LLAMA["num_key_value_heads"])
    to.add_key_length(LLAMA["head_dim"])
    to.add_value_length(LLAMA["head_dim"])
    to.add_rope_dimension_count(LLAMA["head_dim"])
    to.add_rope_freq_base(LLAMA["rope_theta"])
    to.add_layer_norm_rms_eps(LLAMA["rms_norm_eps"])
    to.add_vocab_size(LLAMA["vocab_size"])
    to.add_file_type(gguf.LlamaFileType.ALL_F32)
    to.add_tokenizer_model("llama")
    tokens = ["<unk>", "<s>", "</s>"] + [f"<0x{i:02X}>" for i in range(17)]
    to.add_token_list(tokens)
    to.add_token_scores([0.0] * 20)
    to.add_token_types([2, 3, 3] + [6] * 17)
    to.add_bos_token_id(1)
    to.add_eos_token_id(2)
    to.add_unk_token_id(0)
    to.add_add_bos_token(True)
    to.add_add_space_prefix(False)
    for name, tensor in model.state_dict().items():
        value = tensor.numpy()
        if ".q_proj." in name:
            value = to_neighbours(value, LLAMA["num_attention_heads"])
        if ".k_proj." in name:
            value = to_neighbours(value, LLAMA["num_key_value_heads"])
        to.add_tensor(names.get_name(name, (".weight", ".bias")),
                      np.ascontiguousarray(value))
    to.write_header_to_file()
    to.write_kv_data_to_file()
    to.write_tensors_to_file()
    to.close()


def llama():
    torch.manual_seed(7)
    config = AutoConfig.for_model("llama", **LLAMA)
    model = AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    with torch.no_grad():
        for parameter in model.parameters():
            parameter.copy_(torch.randn(parameter.shape) * 0.5)
    folder = HERE / "llama_shards"
    shutil.rmtree(folder, ignore_errors=True)
    model.save_pretrained(folder, max_shard_size="20KB")
    write_gguf(model, HERE / "llama.gguf")
    # The order of q and k against an independent reader.
    with tempfile.TemporaryDirectory() as scratch:
        shutil.copy(HERE / "llama.gguf", scratch)
        try:
            back = AutoModelForCausalLM.from_pretrained(
                scratch, gguf_file="llama.gguf", dtype=torch.float32)
        except Exception as error:  # the tokenizer of 20 tokens, not weights
            raise SystemExit(f"transformers cannot read it back: {error}")
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, back.state_dict()[name]), name
    print("llama: transformers reads the GGUF file back, all weights equal")


if __name__ == "__main__":
    rope()
    llama()
