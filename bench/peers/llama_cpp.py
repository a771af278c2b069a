#!/usr/bin/env python3
"""P9: prefill and decode on CPU against llama.cpp, in one run, interleaved.

    bench/peers/llama_cpp.py --program build/release/bin/engine_bench \
        --model models/smollm2-135m-instruct.gguf [--rounds 5] [--threads 2]

Makes its own environment for the peer (bench/peers/.venv, llama-cpp-python
built for this processor; the first call takes about ten minutes) and never
touches the product's. Every round runs the peer and kvloom in turn on the same
model file with the same numbers of tokens, and of each takes the median of three
prefills and of 37 steps; the table shows medians over the rounds, the spread and
the ratio of medians. Both use random token ids: time does not depend on
what they say.
"""
import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
PACKAGE = "llama-cpp-python==0.3.36"

PEER = r"""
import json, random, sys, time
from llama_cpp import Llama
path, threads, prefill, contexts, steps = json.loads(sys.argv[1])
model = Llama(path, n_ctx=max([prefill, *contexts]) + steps + 8,
              n_threads=threads, n_threads_batch=threads, n_batch=512,
              n_ubatch=512, logits_all=False, verbose=False)
draw = random.Random(1)
ids = [draw.randrange(100, 40000) for _ in range(max([prefill, *contexts]) + steps)]
def evaluate(tokens):
    start = time.perf_counter()
    model.eval(tokens)
    return time.perf_counter() - start
model.reset(); evaluate(ids[:64])
prefills = []
for _ in range(3):
    model.reset(); prefills.append(evaluate(ids[:prefill]))
out = {"prefill_s": sorted(prefills)[1], "decode_ms": {}}
for context in contexts:
    model.reset(); evaluate(ids[:context])
    for i in range(3): evaluate([ids[context + i]])
    took = [evaluate([ids[context + i]]) for i in range(3, steps)]
    took.sort()
    out["decode_ms"][context] = 1e3 * took[len(took) // 2]
print(json.dumps(out))
"""


# What llama.cpp may use of this processor. Not its AMX path: built by gcc 12
# on a Xeon with AMX, 0.3.36 ends with SIGILL at a tileloadd of its prefill.
SWITCHES = {"avx": "AVX", "avx2": "AVX2", "f16c": "F16C", "fma": "FMA",
            "bmi2": "BMI2", "avx_vnni": "AVX_VNNI", "avx512f": "AVX512",
            "avx512_vbmi": "AVX512_VBMI", "avx512_vnni": "AVX512_VNNI",
            "avx512_bf16": "AVX512_BF16"}


def build_switches():
    flags = set()
    for line in pathlib.Path("/proc/cpuinfo").read_text().splitlines():
        if line.startswith("flags"):
            flags = set(line.split(":", 1)[1].split())
            break
    flags |= {f.replace("avx512vbmi", "avx512_vbmi") for f in flags}
    return " ".join(["-DGGML_NATIVE=OFF"] + [
        f"-DGGML_{name}={'ON' if flag in flags else 'OFF'}"
        for flag, name in SWITCHES.items()])


def peer_python(venv):
    python = venv / "bin" / "python"
    stamp = venv / ".package"
    wanted = f"{PACKAGE} {build_switches()}"
    if not (stamp.exists() and stamp.read_text() == wanted):
        print(f"building {PACKAGE} in {venv} (once)", file=sys.stderr)
        subprocess.run([sys.executable, "-m", "venv", str(venv)], check=True)
        environment = dict(os.environ, CMAKE_ARGS=build_switches())
        subprocess.run([str(python), "-m", "pip", "install", "--quiet",
                        "--no-cache-dir", "--force-reinstall", "--no-binary",
                        "llama-cpp-python", PACKAGE],
                       check=True, env=environment)
        stamp.write_text(wanted)
    return python


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--program", required=True)
    parser.add_argument("--model", required=True)
    parser.add_argument("--threads", type=int, default=os.cpu_count())
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--prefill", type=int, default=3072)
    parser.add_argument("--venv", type=pathlib.Path, default=HERE / ".venv")
    given = parser.parse_args()
    contexts, steps = [128, given.prefill], 40

    python = peer_python(given.venv)
    request = json.dumps([given.model, given.threads, given.prefill, contexts, steps])
    peer, ours = [], []
    for _ in range(given.rounds):
        peer.append(json.loads(subprocess.run(
            [str(python), "-c", PEER, request], check=True, text=True,
            stdout=subprocess.PIPE).stdout))
        ours.append(json.loads(subprocess.run(
            [given.program, "--model", given.model, "--threads", str(given.threads),
             "--prefill", str(given.prefill), "--json"], check=True, text=True,
            stdout=subprocess.PIPE).stdout))

    rows = [("prefill, tokens/s", [given.prefill / p["prefill_s"] for p in peer],
             [o["prefill_tokens_per_s"] for o in ours], False, 5.0)]
    for context, target in ((128, 1.2), (given.prefill, 2.0)):
        rows.append((f"decode at {context}, ms/token",
                     [p["decode_ms"][str(context)] for p in peer],
                     [o["decode_ms"][str(context)] for o in ours], True, target))
    print(f"{given.rounds} rounds, {given.threads} threads, medians [min .. max]; "
          f"peer {PACKAGE}")
    print("| what | llama.cpp | kvloom | times faster | target |")
    print("|---|---|---|---|---|")
    for name, theirs, mine, less_is_better, target in rows:
        a, b = statistics.median(theirs), statistics.median(mine)
        ratio = a / b if less_is_better else b / a
        print(f"| {name} | {a:.2f} [{min(theirs):.2f} .. {max(theirs):.2f}] "
              f"| {b:.2f} [{min(mine):.2f} .. {max(mine):.2f}] "
              f"| {ratio:.2f} | {target} |")


if __name__ == "__main__":
    main()
