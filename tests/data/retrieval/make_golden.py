#!/usr/bin/env python3
"""Writes golden_bm25.json beside itself: BM25 by its definition, in plain loops
over every passage, with exact sums. No library.

    make_golden.py
"""
import json
import math
import pathlib
import random

K1, B = 1.2, 0.75
WORDS = ("river town bridge king clock lantern 1412 flood valley born ship "
         "wright house burned twice harbour april carpenter aunt").split()


def score(query, passage, passages):
    n = len(passages)
    mean = sum(map(len, passages)) / n
    parts = []
    for word in query:
        has = sum(word in other for other in passages)
        tf = passage.count(word)
        idf = math.log(1 + (n - has + 0.5) / (has + 0.5))
        norm = 1 - B + B * len(passage) / mean
        parts.append(idf * tf * (K1 + 1) / (tf + K1 * norm))
    return math.fsum(parts)


def main():
    source = random.Random(7)
    cases = []
    for n in (1, 2, 12, 40):
        passages = [[source.choice(WORDS)
                     for _ in range(source.randint(1, 30))] for _ in range(n)]
        for _ in range(4):
            query = [source.choice(WORDS + ["unheard"])
                     for _ in range(source.randint(1, 6))]
            cases.append({
                "passages": [" ".join(one) for one in passages],
                "query": " ".join(query),
                "scores": [score(query, one, passages) for one in passages]})
    path = pathlib.Path(__file__).with_name("golden_bm25.json")
    path.write_text(json.dumps(cases, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
