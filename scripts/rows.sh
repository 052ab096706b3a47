# ./x rows: which programs of test/rows.txt pass as tests (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # top is set by x.

verb_rows() {
  if [[ ${1-} == --help ]]; then
    say "usage: ./x rows: runs the tests of the programs in test/rows.txt, and lists all of these"
    return
  fi
  local subject tests=() results id what name state passed=0 all=0
  python_environment
  has_python release || die "most of the programs are of Python, and there is no Python package: see above"
  for subject in checkpoint events train; do tests+=("${subject}_tests"); done
  build release "${tests[@]}" weft-python
  results=$(for name in "${tests[@]}"; do WEFT_CACHE=off "build/release/unit/$name" --gtest_filter='Rows.*' || true; done; python_rows)
  say ""
  while read -r id what; do
    [[ $id == S* ]] || continue
    all=$((all + 1))
    # S002-2 is not S002-22.
    name="Rows\\.([^ ]*_)?${id/-/_}(_[^ ]*)? \\("
    if ! grep -qE "$name" <<<"$results"; then state='has no test'
    elif grep -E "$name" <<<"$results" | grep -q FAILED; then state='FAILED'
    else
      state=passes
      passed=$((passed + 1))
    fi
    printf '%-8s %-17s %s\n' "$id" "$state" "$what"
  done <test/rows.txt
  say "$passed of $all"
  ! grep -q 'FAILED' <<<"$results"
}

# The programs in Python, a line each as the unit tests have them: "[ OK ] Rows.test_S002_24_a_checkpoint_is_saved (Python)".
python_rows() {
  { PYTHONDONTWRITEBYTECODE=1 PYTHONPATH=build/release/python build/venv/bin/python -X faulthandler -m pytest -q --no-header -rA --tb=short \
    -p no:cacheprovider test/python/rows || true; } | tee build/rows.txt |
    sed -nE 's/^PASSED .*::(test_S[0-9_]+[a-z0-9_]*).*/[ OK ] Rows.\1 (Python)/p; s/^(FAILED|ERROR) .*::(test_S[0-9_]+[a-z0-9_]*).*/[ FAILED ] Rows.\2 (Python)/p'
}
