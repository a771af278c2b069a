#!/usr/bin/env python3
"""Checks the include rules of docs/contributing.md over the source tree.

Each folder may include the folders below it and the libraries that belong to
it; headers carry `#pragma once`. Prints every violation; exit code 1 if any.
"""
import pathlib
import re
import sys

# folder -> folders of ours that it may include (itself always).
ALLOWED = {
    "core": [],
    "configs": ["core"],
    "graphs": ["core", "configs"],
    "kernels": ["core"],
    "datasets": ["core", "configs/schema"],
    "storage": ["core", "configs/schema"],
    "engine": ["core", "configs/schema", "kernels"],
    "retrieval": ["core", "configs/schema", "kernels"],
    "report": ["core", "configs/schema"],
    "actors": ["core", "configs", "graphs", "kernels", "datasets", "storage",
               "engine", "retrieval", "report"],
    "cli": ["core", "configs", "graphs", "kernels", "datasets", "storage",
            "engine", "retrieval", "report", "actors"],
}
# library (pattern of the include) -> folders in which it may appear.
LIBRARIES = {
    r"yaml-cpp/": ["configs/read"],
    r"caf/": ["actors"],
    r"(ATen|torch|c10)/": ["kernels/torch"],
    r"cuda|cublas": ["kernels/cuda"],
    r"(oneapi/)?tbb/": ["kernels/cpu", "kernels/torch", "engine"],
    r"(H5|hdf5)": ["storage/hdf5", "report/write"],
    r"openssl/": ["core/base", "storage"],
    r"xxhash": ["storage"],
    r"pcre2": ["engine/tokenizer"],
    r"utf8proc": ["engine/tokenizer", "retrieval", "report/score", "report/write"],
    r"CLI/": ["cli"],
    r"zlib": ["datasets"],
}


def inside(path: str, folder: str) -> bool:
    return path == folder or path.startswith(folder + "/")


def main() -> int:
    root = pathlib.Path(sys.argv[1])
    wrong = []
    seen = 0
    for folder, allowed in ALLOWED.items():
        for path in sorted((root / folder).rglob("*")):
            if path.suffix not in (".hpp", ".cpp", ".cu", ".cuh"):
                continue
            seen += 1
            name = path.relative_to(root).as_posix()
            text = path.read_text(encoding="utf-8")
            if path.suffix == ".hpp" and "#pragma once" not in text:
                wrong.append(f"{name}: a header without #pragma once")
            for number, line in enumerate(text.splitlines(), 1):
                found = re.match(r'\s*#\s*include\s*([<"])([^>"]+)[>"]', line)
                if not found:
                    continue
                target = found.group(2)
                here = f"{name}:{number}: includes {target}"
                if found.group(1) == '"':
                    top = target.split("/")[0]
                    if "/" not in target or top not in ALLOWED:
                        wrong.append(f"{here}: write the path from the top folder")
                    elif top != folder and not any(
                            inside(target, a) for a in allowed):
                        wrong.append(f"{here}: {folder} may include only "
                                     f"{', '.join(allowed) or 'itself'}")
                else:
                    for pattern, places in LIBRARIES.items():
                        if re.match(pattern, target) and not any(
                                inside(name, p) for p in places):
                            wrong.append(f"{here}: only {', '.join(places)} may")
    for line in wrong:
        print(line)
    print(f"{seen} files read, {len(wrong)} violations")
    return 1 if wrong or seen == 0 else 0


if __name__ == "__main__":
    sys.exit(main())
