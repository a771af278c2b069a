#!/usr/bin/env python3
"""`kvloom simulate` as a user meets it.

    simulate_command_test.py KVLOOM

The traces of $KVLOOM_TEST_DATA are used where it is set.
"""
import gzip
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
import unittest

KVLOOM = sys.argv[1]
DATA = os.environ.get("KVLOOM_TEST_DATA", "")
MOONCAKE = pathlib.Path(DATA) / "mooncake" / "conversation_trace.jsonl.gz"

# The uses 0 1 0 2 0 1 2 of chunks of a token each.
LINES = "".join(f'{{"chunks": [{{"id": {i}, "tokens": 1}}]}}\n'
                for i in (0, 1, 0, 2, 0, 1, 2))


def call(*arguments):
    return subprocess.run([KVLOOM, "simulate", *map(str, arguments)],
                          text=True, capture_output=True, timeout=300)


class Simulate(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(prefix="kvloom-test-"))
        self.addCleanup(shutil.rmtree, self.folder, ignore_errors=True)

    def write(self, name, content):
        path = self.folder / name
        path.write_bytes(content)
        return path

    def result(self, *arguments):
        done = call(*arguments, "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def test_a_trace_by_hand(self):
        trace = self.write("t.jsonl", LINES.encode())
        out = self.result("--trace", trace, "--capacity", "2",
                          "--bytes-per-token", "1", "--prefill-rate", "1",
                          "--policy", "lru,fifo")
        self.assertEqual(out["trace"]["requests"], 7)
        self.assertEqual(out["trace"]["chunks"], 3)
        self.assertEqual(out["trace"]["recompute_s"], 7)
        capacity, = out["capacities"]
        self.assertEqual(capacity["bound"], "belady")
        self.assertEqual(capacity["bound_s"], 3)
        lru, fifo = capacity["policies"]
        self.assertEqual(lru["policy"], "lru")
        self.assertEqual(lru["saved_s"], 2)
        self.assertAlmostEqual(lru["share_of_bound"], 2 / 3)
        self.assertAlmostEqual(lru["hit_ratio_tokens"], 2 / 7)
        self.assertEqual(lru["written_bytes"], 5)
        self.assertEqual(fifo["policy"], "fifo")

    def test_gzip_is_told_by_content(self):
        plain = self.write("t.jsonl", LINES.encode())
        packed = self.write("t2.jsonl", gzip.compress(LINES.encode()))
        options = ("--capacity", "1MiB,64MiB")
        self.assertEqual(self.result("--trace", plain, *options),
                         self.result("--trace", packed, *options))

    def test_the_table_has_a_row_for_every_policy_and_capacity(self):
        done = call("--zipf", "n=200,requests=500", "--capacity",
                    "512MiB,1GiB")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("look_ahead+pgdsf"), 2)
        self.assertEqual(done.stdout.count("\ncapacity "), 2)
        without = call("--zipf", "n=200,requests=500", "--capacity", "1GiB",
                       "--look-ahead", "0")
        self.assertNotIn("look_ahead", without.stdout)

    def test_the_same_seed_gives_the_same_bytes(self):
        options = ("--zipf", "n=200,requests=500,tokens=100..900",
                   "--capacity", "1GiB", "--json", "--seed")
        self.assertEqual(call(*options, 1).stdout, call(*options, 1).stdout)
        self.assertNotEqual(call(*options, 1).stdout, call(*options, 2).stdout)

    def test_quiet_prints_nothing(self):
        done = call("--zipf", "n=200,requests=500", "--capacity", "1GiB", "-q")
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (0, "", ""))

    def test_wrong_input_is_named(self):
        bad = self.write("bad.jsonl", b'{"chunks": []}\n{"chunks": 1}\n')
        zipf = ("--zipf", "n=200,requests=500")
        size = ("--capacity", "1GiB")
        for arguments, named in [
                (size, "--trace FILE or --zipf"),
                (zipf, "--capacity"),
                ((*zipf, *size, "--trace", bad), "--zipf"),
                ((*zipf, "--capacity", "1Gb"), "`Gb`"),
                ((*zipf, "--capacity", "1GiB,"), "--capacity"),
                ((*zipf, "--capacity", "0"), "--capacity"),
                ((*zipf, *size, "--policy", "lur"), "look_ahead+pgdsf"),
                ((*zipf, *size, "--look-ahead", "-1"), "--look-ahead"),
                ((*zipf, *size, "--prefill-rate", "0"), "--prefill-rate"),
                ((*zipf, *size, "--quadratic", "x"), "--quadratic"),
                (("--zipf", "m=1", *size), "--zipf: there is no `m`"),
                (("--trace", bad, *size), "bad.jsonl:2")]:
            done = call(*arguments)
            self.assertEqual(done.returncode, 2, arguments)
            self.assertIn(named, done.stderr)
            self.assertEqual(done.stdout, "")

    def test_a_missing_file_is_the_environment(self):
        done = call("--trace", self.folder / "none", "--capacity", "1GiB")
        self.assertEqual(done.returncode, 3)
        self.assertIn("none", done.stderr)

    @unittest.skipUnless(MOONCAKE.exists(), "needs KVLOOM_TEST_DATA")
    def test_with_a_long_look_ahead_pgdsf_is_near_the_bound(self):
        out = self.result("--trace", MOONCAKE, "--capacity",
                          "64GiB,256GiB,512GiB,1TiB,4TiB", "--look-ahead",
                          "4096")
        self.assertEqual(out["trace"]["uses"], 288500)
        self.assertEqual(out["trace"]["chunks"], 182790)
        for capacity in out["capacities"]:
            shares = {one["policy"]: one["share_of_bound"]
                      for one in capacity["policies"]}
            self.assertLessEqual(max(shares.values()), 1 + 1e-9)
            self.assertGreaterEqual(shares["look_ahead+pgdsf"], 0.9)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1])
