#!/usr/bin/env bash
# Installs the frameworks Weft is compared with into build/peers, a virtual environment, and compiles libtorch's programs there.
set -euo pipefail

here=$(cd "$(dirname "$(readlink -f "$0")")" && pwd)
top=$(cd "$here/../.." && pwd)
venv=$top/build/peers
log=$venv.log
clang=${CXX:-/usr/lib/llvm-22/bin/clang++}
export PIP_DISABLE_PIP_VERSION_CHECK=1 PIP_NO_INPUT=1

die() {
  printf 'error: %s\n' "$*" >&2
  exit 1
}

# step WHAT COMMAND..: says what is done and, every 200 MB, how far it is; the command's own words go to the log.
step() {
  local what=$1 size last=0
  shift
  echo "$what"
  "$@" >>"$log" 2>&1 &
  local pid=$!
  while kill -0 "$pid" 2>/dev/null; do
    sleep 1
    # du fails where a file goes while it looks, and has said a number all the same.
    size=$(du -sm "$venv" 2>/dev/null | cut -f1) || true
    size=$((${size:-0} / 200 * 200))
    if ((size > last)); then
      last=$size
      echo "  $size MB on disk so far"
    fi
  done
  wait "$pid" || {
    tail -n 20 "$log" >&2
    die "this failed: $* (its whole output is in ${log#"$top"/})"
  }
}

# fresh STAMP FILE..: whether the step that left this stamp ran with these very files.
fresh() {
  local stamp=$venv/$1
  shift
  [[ -f $stamp ]] && cat "$@" | cmp -s - "$stamp"
}
mark() {
  local stamp=$venv/$1
  shift
  cat "$@" >"$stamp"
}

python3 -c 'import ensurepip, venv' 2>/dev/null ||
  die "python3 with its venv module is missing: apt-get install --no-install-recommends -y python3 python3-venv"
mkdir -p "$top/build"
: >"$log"
[[ -x $venv/bin/pip ]] || step "making the virtual environment build/peers" python3 -m venv "$venv"
# pip unpacks below TMPDIR first: on the same disk, where the progress above sees it too.
export TMPDIR=$venv/tmp
mkdir -p "$TMPDIR"

if ! fresh python.stamp "$here/requirements.txt"; then
  step "installing JAX and IREE (about 300 MB to download)" "$venv/bin/pip" install --no-cache-dir -r "$here/requirements.txt"
  mark python.stamp "$here/requirements.txt"
fi
if ! fresh libtorch.stamp "$here/requirements-libtorch.txt"; then
  step "installing libtorch (about 600 MB to download)" "$venv/bin/pip" install --no-cache-dir --no-deps -r "$here/requirements-libtorch.txt"
  mark libtorch.stamp "$here/requirements-libtorch.txt"
fi
torch=$(echo "$venv"/lib/python3*/site-packages/torch)
for program in torch_eager torch_shapes torch_data; do
  parts=("$here/requirements-libtorch.txt" "$here/$program.cpp" "$here/../WorkInputs.h" "$here/torch_networks.h")
  if ! fresh "$program.stamp" "${parts[@]}"; then
    step "compiling libtorch's program $program (about 20 seconds)" "$clang" -std=c++20 -O2 -w \
      -isystem "$torch/include" -isystem "$torch/include/torch/csrc/api/include" "$here/$program.cpp" \
      -o "$venv/$program" -fuse-ld=lld -L"$torch/lib" -ltorch_cpu -lc10 -Wl,-rpath,"$torch/lib"
    mark "$program.stamp" "${parts[@]}"
  fi
done
if ! fresh tensorflow.stamp "$here/requirements-tensorflow.txt"; then
  step "making the virtual environment build/peers/tensorflow" python3 -m venv --clear "$venv/tensorflow"
  step "installing TensorFlow (about 270 MB to download)" "$venv/tensorflow/bin/pip" install --no-cache-dir -r "$here/requirements-tensorflow.txt"
  mark tensorflow.stamp "$here/requirements-tensorflow.txt"
fi
# PyPI's libtorch comes without Gloo, Debian's PyTorch with it.
rm -f "$venv/gloo.stamp"
for python in python3 /usr/bin/python3; do
  "$python" -c 'import torch.distributed; assert torch.distributed.is_available()' 2>/dev/null || continue
  command -v "$python" >"$venv/gloo.stamp"
  break
done
[[ -f $venv/gloo.stamp ]] || echo "without PyTorch over Gloo: apt-get install --no-install-recommends -y python3-torch"
rm -rf "$TMPDIR"
echo "the peers are installed in build/peers"
