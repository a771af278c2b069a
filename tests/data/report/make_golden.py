#!/usr/bin/env python3
"""Writes golden_scores.json and golden_stems.json beside itself, with the
scorers that public figures come from:

- exact match and F1: torchmetrics.functional.text.squad (SQuAD's script, in
  single precision)
- ROUGE-L: the package rouge-score with its stemmer
- stems: nltk's PorterStemmer in its default mode
- quantiles: numpy

    pip install torchmetrics rouge-score nltk numpy; make_golden.py
"""
import json
import pathlib
import random

import numpy
from nltk.stem.porter import PorterStemmer
from rouge_score import rouge_scorer
from torchmetrics.functional.text import squad

HAND = [
    ("the valley of Sarn", ["Sarn", "The Valley of Sarn."]),
    ("Norway", ["Norway"]), ("November 3, 1867", ["3 November 1867"]),
    ("Nobel Prize in Literature", ["no"]), ("yes, he did", ["yes"]),
    ("", ["Paris"]), ("\n", ["Paris"]), ("   ", ["x"]),
    ("Paris", ["paris!"]), ("PARIS, France", ["Paris"]),
    ("p14 activate prb", ["p14 activates prb"]),
    ("U.S.", ["US"]), ("U. S.", ["US"]), ("R&B chart", ["r & b chart"]),
    ("don't", ["dont"]), ("rock-n-roll", ["rock n roll", "rocknroll"]),
    ("3.14", ["314", "3 14"]), ("$5", ["5"]), ("50%", ["50"]),
    ("an apple a day", ["apple day"]), ("theatre", ["the atre"]),
    ("a_b", ["ab"]), ("A man, a plan", ["man plan"]),
    ("word word word", ["word", "word word"]),
    ("Beyoncé", ["beyoncé"]), ("São Paulo", ["são paulo city"]),
    ("Röntgen", ["Wilhelm Conrad Röntgen"]), ("naïve café", ["cafe naive"]),
    ("ÅNGSTRÖM units", ["ångström unit"]), ("10 km", ["10\u00a0km"]),
    ("İstanbul", ["istanbul"]), ("5 \u212a", ["5 k"]),
    ("one. two three. four five six.", ["four five. one two. six"]),
    ("one.\ntwo three.\nfour five six.", ["four five.\none two.\nsix"]),
    ("flies dying studies studied", ["fly die study studying"]),
    ("relational conditional rationally", ["relation condition rational"]),
    ("hopefulness formalities sensibilities", ["hope formal sensible"]),
    ("The quick brown fox jumped over the lazy dogs",
     ["A quick brown fox jumps over a lazy dog", "no fox"]),
]
WORDS = ("the a an river rivers flooding flooded town's towns king kings "
         "crowned crowning lantern lanterns bridge valley born carpentry "
         "carpenter 1412 happily happy happier generation generations "
         "generate organised organizing national nationally, activity "
         "activities. (relative) relating \"relations\" argument arguing "
         "U.S. controlled controlling rolled dog dogs").split()
SUFFIXES = ("s sses ies ss ed eed ied ing at bl iz y ational tional enci anci "
            "izer bli abli alli entli eli ousli ization ation ator alism "
            "iveness fulness ousness aliti iviti biliti fulli logi icate "
            "ative alize iciti ical ful ness al ance ence er ic able ible ant "
            "ement ment ent ion sion tion ou ism ate iti ous ive ize e ll lle "
            "lli ly ling lled").split()
ROOTS = ("a e y ab by tr tree syz hop fizz fall fil cry boy toy geo theo arch "
         "relat condit general sens contr yy yyy control oat box grow stand "
         "f fr ol ex motor bled").split()
REAL = ("sky skies dying lying tying news inning innings outing outings "
        "canning cannings howe proceed exceed succeed dies died ties tied "
        "spied flies caresses ponies cats feed agreed plastered motoring sing "
        "conflated troubled sized hopping tanned falling hissing fizzed "
        "failing filing happy enjoy rational radically differently vilely "
        "operator feudalism decisiveness callousness formality sensitivity "
        "triplicate electrical goodness revival allowance inference airliner "
        "gyroscopic adjustable defensible irritant replacement adjustment "
        "dependent adoption homologous communism activate angularity "
        "effective bowdlerize probate rate cease controll roll archaeology "
        "philology theology hopefully successfully 1412 a1s2ing").split()


def squad_scores(answer, golds):
    percent = squad([{"prediction_text": answer, "id": "0"}],
                    [{"answers": {"answer_start": [0] * len(golds),
                                  "text": golds}, "id": "0"}])
    return {"em": float(percent["exact_match"]) / 100,
            "f1": float(percent["f1"]) / 100}


def main():
    source = random.Random(11)
    pairs = list(HAND)
    for _ in range(160):
        def text(most):
            return " ".join(source.choice(WORDS)
                            for _ in range(source.randint(1, most)))
        pairs.append((text(12), [text(8)
                                 for _ in range(source.randint(1, 3))]))
    rouge = rouge_scorer.RougeScorer(["rougeL"], use_stemmer=True)
    scores = [{
        "answer": answer, "golds": golds,
        **squad_scores(answer, golds),
        "rouge_l": max(rouge.score(gold, answer)["rougeL"].fmeasure
                       for gold in golds)} for answer, golds in pairs]
    stemmer = PorterStemmer()
    words = sorted(set(REAL) | {root + suffix for root in ROOTS
                                for suffix in SUFFIXES})
    stems = {word: stemmer.stem(word) for word in words}
    samples = []
    for n in (1, 2, 3, 10, 101):
        values = [round(source.gauss(10, 3), 6) for _ in range(n)]
        samples.append({"values": values, "quantiles": {
            str(q): float(numpy.quantile(values, q))
            for q in (0, 0.25, 0.5, 0.95, 0.99, 1)}})
    here = pathlib.Path(__file__)
    for name, content in (("golden_scores.json", scores),
                          ("golden_stems.json", stems),
                          ("golden_quantiles.json", samples)):
        here.with_name(name).write_text(
            json.dumps(content, indent=0) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
