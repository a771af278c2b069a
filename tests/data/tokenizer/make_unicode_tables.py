#!/usr/bin/env python3
"""Writes engine/tokenizer/unicode_tables.cpp.

The reference tokenizer mixes several versions of Unicode: its regular
expressions know one, its punctuation test an older one, its normal forms
another. The sets are measured here, by asking the reference about every code
point. Needs `tokenizers` and a Python whose unicodedata is 14.0, the version
that PCRE2 10.42 has.

Usage: make_unicode_tables.py > engine/tokenizer/unicode_tables.cpp
"""
import unicodedata

from tokenizers import Regex, normalizers, pre_tokenizers

assert unicodedata.unidata_version == "14.0.0"
POINTS = [c for c in range(0x110000) if not 0xD800 <= c <= 0xDFFF]
ALL = "".join(map(chr, POINTS))
# Scripts that have letters newer than Unicode 14, as far as patterns of
# tokenizers are likely to name them.
SCRIPTS = ("Latin Greek Cyrillic Hebrew Arabic Devanagari Bengali Gurmukhi "
           "Gujarati Tamil Telugu Kannada Malayalam Thai Lao Tibetan Georgian "
           "Hangul Ethiopic Khmer Mongolian Hiragana Katakana Bopomofo Han "
           "Armenian Sinhala Myanmar").split()
CATEGORIES = ("Lu Ll Lt Lm Lo Mn Mc Nd Nl No Pc Pd Ps Pe Pi Pf Po Sm Sc Sk So "
              "Cf").split()


def ranges(points):
    out = []
    for c in sorted(points):
        if out and out[-1][1] == c - 1:
            out[-1][1] = c
        else:
            out.append([c, c])
    return out


def matched(pattern):
    text = normalizers.Replace(Regex(pattern), "\x01").normalize_str(ALL)
    return {c for c, a, b in zip(POINTS, ALL, text) if a != b}


def cut_out(node):
    return {c for c in POINTS
            if len(node.pre_tokenize_str("a" + chr(c) + "a")) > 1}


def members(points):
    """Of a PCRE2 character class, as a C++ literal."""
    return "".join(f"\\\\x{{{a:x}}}-\\\\x{{{b:x}}}" if a != b
                   else f"\\\\x{{{a:x}}}" for a, b in ranges(points))


def table(name, comment, points):
    rows = ranges(points)
    print(f"// {comment}")
    print(f"constexpr char_range {name}_ranges[] = {{")
    print(",\n".join(f"{{0x{a:x}, 0x{b:x}}}" for a, b in rows))
    print("};\n")


def old_marks(form):
    """Marks whose order, and characters whose decomposition, are news to the
    reference."""
    out = set()
    new = lambda text: unicodedata.normalize(form, text)
    node = getattr(normalizers, form)()
    for c in POINTS:
        ch = chr(c)
        probes = [ch]
        if unicodedata.combining(ch):
            probes += ["a" + ch + "\u0334", "a\u0345" + ch]
        if any(new(p) != node.normalize_str(p) for p in probes):
            out.add(c)
    return out


print("""// Written by tests/data/tokenizer/make_unicode_tables.py; do not edit.
#include "engine/tokenizer/unicode_tables.hpp"

namespace kvloom::engine {

namespace {
""")
added = {}
for name in CATEGORIES:
    added[name] = matched(r"\p{%s}" % name) - {
        c for c in POINTS if unicodedata.category(chr(c)) == name}
news = set().union(*added.values())
table("numeric", "Categories Nd, Nl, No.", cut_out(pre_tokenizers.Digits(True)))
table("punctuation", "Categories P*, and ASCII punctuation.",
      cut_out(pre_tokenizers.Punctuation("isolated")))
strip = normalizers.StripAccents()
table("mark", "Categories M*.",
      {c for c in POINTS if strip.normalize_str("a" + chr(c)) == "a"})
table("canonical_news", "Left alone by NFC and NFD.",
      old_marks("NFD") | old_marks("NFC") | news)
table("compatible_news", "Left alone by NFKC and NFKD.",
      old_marks("NFKD") | old_marks("NFKC") | news)
print("// Lower case of letters newer than Unicode 14.")
print("constexpr std::pair<char32_t, char32_t> new_lower[] = {")
lower = normalizers.Lowercase()
print(",\n".join(
    f"{{0x{c:x}, 0x{ord(lower.normalize_str(chr(c))):x}}}" for c in POINTS
    if lower.normalize_str(chr(c)) != chr(c).lower()))
print("};\n")
print("// Members of the categories that PCRE2 10.42 does not know yet.")
print("constexpr category_news news[] = {")
for name in CATEGORIES:
    if added[name]:
        print(f'{{"{name}", "{members(added[name])}"}},')
print("};\n")
print("// The same for scripts.")
print("constexpr category_news new_scripts[] = {")
for name in SCRIPTS:
    found = matched(r"\p{%s}" % name) & news
    if found:
        print(f'{{"{name}", "{members(found)}"}},')
print("""};

} // namespace

std::span<const char_range> numeric_table() { return numeric_ranges; }
std::span<const char_range> punctuation_table() { return punctuation_ranges; }
std::span<const char_range> mark_table() { return mark_ranges; }
std::span<const char_range> canonical_news_table() {
  return canonical_news_ranges;
}
std::span<const char_range> compatible_news_table() {
  return compatible_news_ranges;
}
std::span<const std::pair<char32_t, char32_t>> new_lower_table() {
  return new_lower;
}
std::span<const category_news> category_news_table() { return news; }
std::span<const category_news> script_news_table() { return new_scripts; }

} // namespace kvloom::engine""")
