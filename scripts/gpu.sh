# ./x gpu: what only a GPU can tell (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # top is set by x.

# What it needs of the built tree.
gpu_files=(bin/weft bin/weft-opt bin/weft-run bin/weft-compile bin/weft-fuzz bin/weft-bench unit/emulator_tests generated/test/samples.json)

gpu_usage() {
  cat <<'END'
usage: ./x gpu [--part PART..] [--no-peers] [--emulated] [--json FILE] [--seconds N] [--every N]
       ./x gpu --pack FILE

On a machine with a GPU, in at most ten minutes and with nothing but the built tree:

  corpus     every form of an instruction on the edges of its operands, bit by bit beside the emulator
  kernels    functions of the text tests and calls of the ops' oracle, beside the emulator's results
  sanitizer  drawn calls under compute-sanitizer, if it is on the PATH
  times      the rows of ./x bench --group gpu, beside PyTorch where a Python has it (WEFT_PEERS_PYTHON names one)

It writes benchmarks/gpu/CARD.json, which is to be committed; parts that it was not told to do stay as they are there. What a part
lacks it says, and the others go on.

  --part PART    only this part; may come again
  --no-peers     times of Weft alone
  --emulated     on the emulator, of each part a little: needs no GPU, and writes no file but by --json
  --json FILE    another file
  --seconds N    how long all of it may take, by default 600
  --every N      one of so many functions and calls
  --pack FILE    writes what it takes as an archive (.tar.xz) for a machine that has no built tree
END
}

verb_gpu() {
  local python=build/venv/bin/python
  case ${1-} in
    --help) gpu_usage; return ;;
    --pack) [[ $# -eq 2 ]] || misuse "--pack needs a file"; gpu_pack "$2"; return ;;
  esac
  [[ -x $python ]] || python=python3
  exec "$python" scripts/gpu/main.py "$@"
}

# gpu_pack FILE: the programs and libraries of the built tree, without symbols that nobody needs, and the sources that ./x gpu reads.
gpu_pack() {
  local file=$1 folder name
  [[ $file == /* ]] || file=$PWD/$file
  for name in "${gpu_files[@]}"; do [[ -e build/release/$name ]] || die "build/release/$name is not built: ./x build"; done
  folder=$(mktemp -d "$top/build/gpu-pack.XXXXXX")
  mkdir -p "$folder"/build/release/{bin,lib,unit,generated/test}
  for name in "${gpu_files[@]}"; do cp -P "build/release/$name" "$folder/build/release/$name"; done
  cp -P build/release/lib/libweft.so* build/release/lib/libweft-compiler.so* build/release/lib/libweft-gpu-emulator.so "$folder/build/release/lib"
  find "$folder/build" -type f \( -path '*/bin/*' -o -path '*/lib/*' -o -path '*/unit/*' \) -exec "$llvm/bin/llvm-strip" --strip-unneeded {} +
  # Libraries that another machine may have in other versions, but for the C and C++ libraries.
  mkdir "$folder/build/release/lib/packed"
  ldd "$folder/build/release/bin/weft" | awk '$3 ~ /lib(jpeg|png|z|zstd)[^/]*$/ {print $3}' |
    while read -r name; do cp -L "$name" "$folder/build/release/lib/packed"; done
  git rev-parse HEAD >"$folder/build/gpu-commit"
  git ls-files x scripts test benchmarks | tar -cf - -T - | tar -xf - -C "$folder"
  tar -C "$folder" -cf - . | xz -T0 -3 >"$file"
  rm -r "$folder"
  say "$(du -h --apparent-size "$file" | cut -f1) in $file: unpack it in an empty folder, and run ./x gpu there"
}
