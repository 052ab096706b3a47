# ./x rows: which programs of test/rows.txt pass as tests (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # top is set by x.

verb_rows() {
  if [[ ${1-} == --help ]]; then
    say "usage: ./x rows: runs the tests of the programs in test/rows.txt, and lists all of these"
    return
  fi
  local subject tests=() results id what name state passed=0 all=0
  for subject in checkpoint events train; do tests+=("${subject}_tests"); done
  build release "${tests[@]}"
  results=$(for name in "${tests[@]}"; do WEFT_CACHE=off "build/release/unit/$name" --gtest_filter='Rows.*' || true; done)
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
