# Shared by the scripts; sourced, not run. Names the folders and says what a
# step is about to do.
set -euo pipefail

root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
# Where things go; each may be set from outside.
KVLOOM_VENV=${KVLOOM_VENV:-$root/.venv}
KVLOOM_BUILD=${KVLOOM_BUILD:-$root/build/release}
KVLOOM_MODELS=${KVLOOM_MODELS:-$root/models}

say() { printf '== %s\n' "$*" >&2; }

die() { # die EXIT_CODE MESSAGE
  local code=$1
  shift
  printf 'error: %s\n' "$*" >&2
  exit "$code"
}

# build_kvloom CMAKE_BUILD_DIR [cmake option...] -- [target...]
# Configures once and builds; quick when nothing changed.
build_kvloom() {
  local folder=$1
  shift
  local options=()
  while [ $# -gt 0 ] && [ "$1" != -- ]; do
    options+=("$1")
    shift
  done
  [ $# -gt 0 ] && shift
  local log=$folder/configure.log
  mkdir -p "$folder"
  if ! cmake -S "$root" -B "$folder" -G Ninja -DKVLOOM_VENV="$KVLOOM_VENV" \
    "${options[@]}" >"$log" 2>&1; then
    tail -n 30 "$log" >&2
    die 3 "cmake could not configure; the whole log is $log"
  fi
  cmake --build "$folder" --parallel "${KVLOOM_JOBS:-$(nproc)}" \
    ${@:+--target "$@"} >&2
}
