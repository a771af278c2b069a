#!/usr/bin/env python3
"""Makes demo.json from demo_passages.txt and demo_questions.txt.

Every question gets its needed passages and others, eight in all, in an order
drawn with a fixed seed; so passages are shared between questions and come at
different places. Usage: make_demo.py > demo.json
"""
import json
import pathlib
import random
import sys

HERE = pathlib.Path(__file__).resolve().parent
PASSAGES_A_QUESTION = 8


def lines(name):
    text = (HERE / name).read_text(encoding="utf-8")
    return [l for l in text.splitlines() if l and not l.startswith("#")]


def main():
    passages = {}
    for line in lines("demo_passages.txt"):
        if line.startswith("== "):
            key, title = (part.strip() for part in line[3:].split("|"))
            if key in passages:
                sys.exit(f"passage id {key} stands twice")
            passages[key] = {"title": title, "text": ""}
        else:
            passages[key]["text"] += line.strip()
    for key, entry in passages.items():
        words = len(entry["text"].split())
        if not 120 <= words <= 250:
            sys.exit(f"passage {key} has {words} words, wanted 120 to 250")

    draw = random.Random(20)
    rows = []
    for number, line in enumerate(lines("demo_questions.txt"), 1):
        asked, golds, needed = (part.strip() for part in line.split("|"))
        needed = [key.strip() for key in needed.split(",")]
        others = [key for key in passages if key not in needed]
        chosen = needed + draw.sample(others, PASSAGES_A_QUESTION - len(needed))
        draw.shuffle(chosen)
        rows.append({
            "id": f"demo-{number:02d}",
            "question": asked,
            "answers": [gold.strip() for gold in golds.split(";")],
            "supporting_facts": [[passages[key]["title"], 0] for key in needed],
            "ctxs": [passages[key] for key in chosen],
        })
    json.dump(rows, sys.stdout, ensure_ascii=False, indent=1)
    print()


if __name__ == "__main__":
    main()
