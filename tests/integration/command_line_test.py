#!/usr/bin/env python3
"""The command as a user meets it: real program, real files, real model.

    command_line_test.py KVLOOM SOURCE_DIR

Without KVLOOM_TEST_MODEL the tests that need a model are skipped.
"""
import json
import os
import pathlib
import shlex
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import unittest

KVLOOM, SOURCE = sys.argv[1], pathlib.Path(sys.argv[2])
MODEL = os.environ.get("KVLOOM_TEST_MODEL", "")
HAVE_MODEL = bool(MODEL) and os.path.exists(MODEL)

GRAPH = """\
schema: kvloom/graph/1
name: small
model: {{path: {model}}}
actors:
  questions: {{type: question_source, params: {{path: {data}}}}}
  retriever: {{type: retriever, params: {{top_k: {top_k}}}}}
  prefiller: {{type: prefiller}}
  decoder: {{type: decoder, params: {{max_new_tokens: 6}}}}
  results: {{type: recorder}}
edges:
  - {{from: questions.question, to: retriever.question}}
  - {{from: retriever.retrieved, to: prefiller.request}}
  - {{from: prefiller.prefilled, to: decoder.request}}
  - {{from: decoder.answer, to: results.answer}}
"""

ROWS = [
    {"id": "a", "question": "Where was Odo Renk born?", "answers": ["Sarn"],
     "ctxs": [{"title": "Odo Renk", "text": "Odo Renk was born in Sarn."},
              {"title": "Ull", "text": "The Ull is a river of the north."}]},
    {"id": "b", "question": "What floods each April?", "answers": [["the Ull"]],
     "ctxs": [{"title": "", "text": " \n"},
              {"title": "Sarn", "text": "The river Ull floods each April."}]},
    {"id": "c", "question": "Which river floods?", "answers": "the Ull",
     "ctxs": []},
]


def call(*arguments, **options):
    environment = {k: v for k, v in os.environ.items()
                   if not k.startswith("KVLOOM_")}
    environment.update(options.pop("environment", {}))
    return subprocess.run([KVLOOM, *map(str, arguments)], text=True,
                          capture_output=True, timeout=300, env=environment,
                          **options)


def call_with_streams(command, **streams):
    """Standard streams that are full (a path to write to) or closed."""
    words = " ".join(shlex.quote(str(w)) for w in [KVLOOM, *command])
    for name, number in (("stdout", 1), ("stderr", 2)):
        where = streams.get(name)
        if where == "closed":
            words += f" {number}>&-"
        elif where:
            words += f" {number}>{where}"
    return subprocess.run(["sh", "-c", words], text=True, capture_output=True,
                          timeout=300)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kvloom-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, content):
        path = self.folder / name
        if not isinstance(content, str):
            content = json.dumps(content)
        path.write_text(content, encoding="utf-8")
        return path

    def graph(self, rows=None, model=None, top_k=2, change=lambda text: text):
        data = self.write("data.json", ROWS if rows is None else rows)
        text = GRAPH.format(model=model or MODEL or "no_model.gguf", data=data,
                            top_k=top_k)
        return self.write("graph.yaml", change(text))

    def expect(self, done, code, *words):
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, code, said)
        for word in words:
            self.assertIn(word, said)
        return done

    def results(self, run):
        lines = (run / "results.jsonl").read_text(encoding="utf-8").splitlines()
        return {line["id"]: line for line in map(json.loads, lines)}


class Checking(Case):
    def test_shipped_files_are_right(self):
        self.expect(call("check", SOURCE / "configs/demo.yaml"), 0)
        for path in (SOURCE / "graphs/library").glob("*.yaml"):
            self.expect(call("check", path), 0)

    def test_yaml_that_is_no_yaml(self):
        path = self.write("x.yaml", "actors: {a: [}\n")
        self.expect(call("check", path), 2, "x.yaml:1:")

    def test_misspelt_key_names_the_nearest(self):
        path = self.graph(change=lambda t: t.replace("top_k", "topk"))
        self.expect(call("check", path), 2, "graph.yaml:6:", "topk", "top_k")

    def test_negative_top_k(self):
        self.expect(call("check", self.graph(top_k=-1)), 2, "graph.yaml:6:",
                    "top_k", "-1")

    def test_all_errors_come_at_once(self):
        path = self.graph(top_k=-1, change=lambda t: t.replace(
            "type: prefiller", "type: prefilter").replace(
                "max_new_tokens: 6", "max_new_tokens: many"))
        self.expect(call("check", path), 2, "prefilter", "-1", "many")

    def test_missing_file(self):
        self.expect(call("check", self.folder / "none.yaml"), 2, "none.yaml")

    def test_set_is_checked_too(self):
        self.expect(call("check", self.graph(), "--set", "retriever.topk=3"), 2,
                    "top_k")
        self.expect(call("check", self.graph(), "--set", "retriever.top_k=x"), 2,
                    "top_k", "x")
        self.expect(call("check", self.graph(), "--set", "retriever.top_k=3"), 0)

    def test_environment_is_checked_too(self):
        self.expect(call("check", self.graph(), environment={
            "KVLOOM_RETRIEVER__TOP_K": "none"}), 2, "KVLOOM_RETRIEVER__TOP_K")

    def test_sweeps_and_devices_are_refused_by_name(self):
        self.graph()
        path = self.write("e.yaml", "schema: kvloom/experiment/1\n"
                          "graph: graph.yaml\nsweep: {product: {}}\n")
        self.expect(call("check", path), 2, "sweep", "e.yaml:3:")
        path = self.graph(change=lambda t: t.replace(
            "{type: prefiller}",
            "{type: prefiller, place: {device: \"cuda:0\"}}"))
        self.expect(call("check", path), 2, "cuda:0", "cpu")


class Looking(Case):
    def test_graph_is_drawn_three_ways(self):
        path = self.graph()
        self.expect(call("graph", path), 0, "retriever", "prefiller")
        self.expect(call("graph", path, "-f", "dot"), 0, "digraph")
        out = self.folder / "g.svg"
        self.expect(call("graph", path, "-f", "svg", "-o", out), 0)
        self.assertIn("<svg", out.read_text(encoding="utf-8"))

    def test_actors_are_listed(self):
        self.expect(call("actors"), 0, "question_source", "top_k", "default")
        listed = json.loads(call("actors", "--json").stdout)
        names = {kind["name"] for kind in listed}
        self.assertLessEqual({"question_source", "retriever", "prefiller",
                              "decoder", "recorder", "model"}, names)
        self.expect(call("actors", "nobody"), 2, "nobody", "retriever")

    def test_doctor(self):
        self.expect(call("doctor"), 0, "cpu_path")
        self.assertIn("kernels", json.loads(call("doctor", "--json").stdout))

    def test_code_of_a_missing_file(self):
        self.expect(call("score", "--pred", "no.jsonl", "--gold", "no.jsonl"),
                    3, "no.jsonl")

    def test_an_empty_folder_name_is_refused(self):
        self.expect(call("run", SOURCE / "configs/demo.yaml", "--out", ""), 2,
                    "--out", "names no folder")

    def test_lost_output_is_said(self):
        gold = self.write("gold.jsonl", '{"id": "a", "golds": ["x"]}\n')
        pred = self.write("pred.jsonl", '{"id": "a", "answer": "x"}\n')
        for command in (["check", SOURCE / "configs/demo.yaml"],
                        ["actors"],
                        ["graph", SOURCE / "configs/demo.yaml"],
                        ["score", "--pred", pred, "--gold", gold, "--json"],
                        ["--help"]):
            for closed in (False, True):
                said = call_with_streams(command, stdout="closed" if closed
                                         else "/dev/full")
                self.assertEqual(said.returncode, 3, command)
                self.assertIn("standard output", said.stderr)

    def test_wrong_usage_is_code_2(self):
        self.expect(call(), 2)
        self.expect(call("run"), 2)
        self.expect(call("frobnicate", "x"), 2, "frobnicate", "--help")
        self.expect(call("chekc", "x"), 2, "`chekc`", "`check`")
        self.expect(call("run", "x.yaml", "--ot", "y"), 2, "--ot")

    def test_score(self):
        predictions = self.write(
            "p.jsonl", '{"id": "a", "answer": "The Sarn"}\n'
            '{"id": "b", "answer": ""}\n')
        golds = self.write("g.jsonl", '{"id": "b", "golds": ["x"]}\n'
                           '{"id": "a", "golds": ["Sarn", "y"]}\n')
        done = self.expect(call("score", "--pred", predictions, "--gold", golds,
                                "--json"), 0)
        self.assertIn("0.5", done.stdout)
        broken = self.write("broken.jsonl", '{"id": "a", "answer": "x"}\n{"id"\n')
        self.expect(call("score", "--pred", broken, "--gold", golds), 2,
                    "broken.jsonl", "2")


@unittest.skipUnless(HAVE_MODEL, "KVLOOM_TEST_MODEL names no model")
class Running(Case):
    def test_answers_with_times_that_add_up(self):
        out = self.folder / "out"
        self.expect(call("run", self.graph(), "--out", out, "--quiet"), 0)
        lines = self.results(out)
        self.assertEqual(set(lines), {"a", "b", "c"})
        for line in lines.values():
            self.assertEqual(line["schema"], "kvloom/result/1")
            self.assertEqual(line["status"], "ok")
            parts = sum(line["ttft_parts_ms"].values())
            self.assertAlmostEqual(parts / line["ttft_ms"], 1, delta=0.01)
            tokens = line["tokens"]
            self.assertEqual(tokens["prompt"], sum(
                tokens.get(k, 0) for k in
                ("prefix_hit", "chunk_hit", "recomputed", "missed")))
            self.assertEqual(tokens["output"], len(line["token_ids"]))
            self.assertGreaterEqual(line["e2e_ms"], line["ttft_ms"])
            self.assertNotIn(None, line.values())
        self.assertEqual(len(lines["a"]["retrieved"]), 2)
        self.assertEqual([r["chunk"] for r in lines["b"]["retrieved"]], [1])
        for name in ("summary.json", "manifest.json"):
            json.loads((out / name).read_text(encoding="utf-8"))
        again = self.folder / "again"
        self.expect(call("run", out / "config.resolved.yaml", "--out", again,
                         "--quiet", "--strict"), 0)
        repeated = self.results(again)
        for key, line in lines.items():
            self.assertEqual(line["token_ids"], repeated[key]["token_ids"])

    def test_threads_change_no_result(self):
        ids = []
        for threads in (1, 2, 4):
            out = self.folder / f"t{threads}"
            self.expect(call("run", self.graph(), "--out", out, "--quiet",
                             "--set", f"model.threads={threads}"), 0)
            ids.append({k: (v["token_ids"], v["scores"])
                        for k, v in self.results(out).items()})
        self.assertEqual(ids[0], ids[1])
        self.assertEqual(ids[0], ids[2])

    def test_settings_without_effect_fail_a_strict_run(self):
        done = call("run", self.graph(), "--out", self.folder / "strict",
                    "--strict", "--set", "decoder.batch=32",
                    "--set", "decoder.top_k=5")
        self.expect(done, 1, "decoder.batch is 32", "questions.open is 1",
                    "decoder.top_k is set")
        notes = json.loads((self.folder / "strict/manifest.json").read_text())
        self.assertTrue(any("decoder.batch" in n for n in notes["notes"]))
        done = call("run", self.graph(), "--out", self.folder / "plain",
                    "--set", "decoder.batch=32")
        self.expect(done, 0, "decoder.batch is 32")

    def test_a_collection_does_not_depend_on_the_limit(self):
        seen = {}
        for name, limits in (("all", []), ("one", ["questions.limit=1",
                                                   "questions.offset=1"])):
            out = self.folder / name
            words = [w for each in ["retriever.scope=collection", *limits]
                     for w in ("--set", each)]
            self.expect(call("run", self.graph(), "--out", out, "--quiet",
                             *words), 0)
            seen[name] = self.results(out)
        self.assertEqual(set(seen["one"]), {"b"})
        first = seen["one"]["b"]["retrieved"]
        self.assertEqual(first, seen["all"]["b"]["retrieved"])
        best = first[0]
        row = next(r for r in ROWS if r["id"] == best["question"])
        self.assertIn("floods", row["ctxs"][best["chunk"]]["text"])

    def test_a_shuffled_limit_is_a_sample(self):
        rows = [dict(ROWS[0], id=f"q{i}") for i in range(40)]
        out = self.folder / "out"
        self.expect(call("run", self.graph(rows), "--out", out, "--quiet",
                         "--set", "questions.order=shuffled", "--set",
                         "questions.limit=4"), 0)
        asked = {int(key[1:]) for key in self.results(out)}
        self.assertEqual(len(asked), 4)
        self.assertFalse(asked <= set(range(8)))

    def test_a_configuration_is_known_by_its_values(self):
        digests = []
        graph = self.graph()
        for n, (file, place) in enumerate((
                (graph, self.folder), (graph.name, self.folder),
                ("o0/config.resolved.yaml", self.folder))):
            out = self.folder / f"o{n}"
            self.expect(call("run", file, "--out", out, "--quiet",
                             cwd=str(place)), 0)
            manifest = json.loads((out / "manifest.json").read_text())
            digests.append(manifest["digests"]["config"])
        self.assertEqual(digests, digests[:1] * 3)

    def test_a_run_that_cannot_begin_leaves_nothing(self):
        out = self.folder / "new" / "out"
        words = " ".join(shlex.quote(str(w)) for w in
                         [KVLOOM, "run", self.graph(), "--out", out])
        done = subprocess.run(["sh", "-c", f"ulimit -f 1; {words} 2>/dev/null"],
                              timeout=120)
        self.assertEqual(done.returncode, 3)
        self.assertFalse((self.folder / "new").exists())

    def test_missing_model(self):
        out = self.folder / "out"
        done = call("run", self.graph(model="nowhere.gguf"), "--out", out)
        self.expect(done, 3, "nowhere.gguf")
        self.assertFalse(out.exists())

    def test_model_of_an_unsupported_family(self):
        folder = self.folder / "m"
        folder.mkdir()
        (folder / "config.json").write_text('{"model_type": "mamba", '
                                            '"architectures": ["Mamba"]}')
        out = self.folder / "out"
        done = call("run", self.graph(model=folder), "--out", out)
        self.assertIn(done.returncode, (2, 3), done.stderr)
        self.assertIn("mamba", done.stderr)
        self.assertFalse(out.exists())

    def test_broken_row(self):
        rows = ROWS[:1] + [{"id": "x", "ctxs": []}]
        out = self.folder / "out"
        self.expect(call("run", self.graph(rows), "--out", out), 2, "data.json",
                    "question")
        self.assertFalse(out.exists())

    def test_a_prompt_longer_than_the_context_fails_alone(self):
        rows = ROWS[:1] + [{"id": "long", "question": "Why?", "answers": ["x"],
                            "ctxs": [{"title": "", "text": "many words " * 9000}]}]
        out = self.folder / "out"
        self.expect(call("run", self.graph(rows), "--out", out), 1, "long")
        lines = self.results(out)
        self.assertEqual(lines["a"]["status"], "ok")
        self.assertEqual(lines["long"]["status"], "failed")
        self.assertIn("8192", lines["long"]["error"])

    def test_output_folder_that_exists(self):
        out = self.folder / "out"
        out.mkdir()
        self.expect(call("run", self.graph(), "--out", out), 2, "out")
        self.assertEqual(list(out.iterdir()), [])

    def test_unwritable_output_folder(self):
        self.expect(call("run", self.graph(), "--out", "/proc/kvloom/out"), 3,
                    "/proc/kvloom")

    def test_results_do_not_depend_on_the_streams(self):
        graph = self.graph()
        for n, streams in enumerate(({"stderr": "closed"},
                                     {"stderr": "/dev/full"},
                                     {"stdout": "closed", "stderr": "closed"},
                                     {"stdout": "/dev/full"})):
            out = self.folder / f"s{n}"
            done = call_with_streams(["run", graph, "--out", out], **streams)
            self.assertEqual(done.returncode, 3 if "stdout" in streams else 0)
            self.assertEqual(set(self.results(out)), {"a", "b", "c"})
            json.loads((out / "summary.json").read_text(encoding="utf-8"))

    def test_a_reader_that_leaves_ends_no_run(self):
        out = self.folder / "out"
        child = subprocess.Popen(
            [KVLOOM, "run", str(self.graph()), "--out", str(out)],
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        child.stdout.readline()
        child.stdout.close()
        self.assertEqual(child.wait(timeout=120), 3)
        self.assertFalse(
            json.loads((out / "summary.json").read_text())["interrupted"])

    def test_interrupt_keeps_what_was_finished(self):
        rows = [dict(ROWS[0], id=f"q{i}") for i in range(400)]
        out = self.folder / "out"
        for end in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if out.exists():
                shutil.rmtree(out)
            child = subprocess.Popen(
                [KVLOOM, "run", str(self.graph(rows)), "--out", str(out)],
                stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
            results = out / "results.jsonl"
            limit = time.monotonic() + 60
            while time.monotonic() < limit and not (
                    results.exists() and results.stat().st_size > 0):
                time.sleep(0.02)
            child.send_signal(end)
            said, _ = child.communicate(timeout=20)
            self.assertEqual(child.returncode, 1, said)
            lines = results.read_text(encoding="utf-8").splitlines()
            parsed = [json.loads(line) for line in lines]
            self.assertTrue(any(line["status"] == "ok" for line in parsed))
            self.assertTrue(
                json.loads((out / "summary.json").read_text())["interrupted"])


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0]], verbosity=2)
