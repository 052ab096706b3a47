# Adds up the XML files that GoogleTest, CTest and lit leave behind, and prints the one closing line (sourced by ./x).
# shellcheck shell=bash

# test_lines FILE..: one line "pass|fail|skip <tab> name <tab> reason" per test case of GoogleTest's or lit's XML files.
test_lines() {
  awk '
    function attribute(line, key,    from) {
      from = index(line, " " key "=\"")
      if (!from) return ""
      line = substr(line, from + length(key) + 3)
      return substr(line, 1, index(line, "\"") - 1)
    }
    function plain(text) {
      gsub(/&#x?[0-9A-Fa-f]+;/, " ", text); gsub(/&quot;/, "\"", text); gsub(/&apos;/, "\x27", text)
      gsub(/&lt;/, "<", text); gsub(/&gt;/, ">", text); gsub(/&amp;/, "\\&", text)
      return text
    }
    function finish() {
      if (name != "" && reason !~ /^Test not selected/) printf "%s\t%s\t%s\n", state, plain(name), plain(reason)
      name = ""; state = "pass"; reason = ""
    }
    # Text between <![CDATA[ and ]]> is a test'"'"'s own output and may look like anything.
    inside { if (index($0, "]]>")) inside = 0; next }
    /<testcase / {
      finish()
      state = "pass"
      name = attribute($0, "classname") "." attribute($0, "name")
      if (attribute($0, "status") == "notrun") { state = "skip"; reason = "disabled in its source" }
    }
    /<failure/ { state = "fail" }
    /<skipped/ { state = "skip"; reason = attribute($0, "message") }
    /<!\[CDATA\[/ { if (!index($0, "]]>")) inside = 1 }
    /<\/testsuite>/ { finish() }
    END { finish() }' "$@"
}

# program_lines RESULTS: what CTest knows and the XML files do not: a program that crashed, hung, or is no GoogleTest.
program_lines() {
  local results=$1 status name xml
  cat "$results"/*.ctest 2>/dev/null | sed -n 's/.*<testcase name="\([^"]*\)".* status="\([^"]*\)".*/\2 \1/p' |
    while read -r status name; do
      xml=$results/$name.xml
      case $status in
        run) [[ -f $xml ]] || printf 'pass\t%s\t\n' "$name" ;;
        disabled) printf 'skip\t%s\tdisabled in its CMakeLists.txt\n' "$name" ;;
        *)
          if ! grep -qs '<failure' "$xml"; then
            printf 'fail\t%s\tthe program crashed, timed out or leaked: its output is above\n' "$name"
          fi
          ;;
      esac
    done
}

# summarize RESULTS FILTER STATUS: names what failed and what was skipped, then one line of counts; exits with 1 on a failure.
# STATUS is 1 when a runner itself reported failure, so that a failure no file tells of cannot pass unseen.
summarize() {
  local results=$1 filter=$2 status=$3 all passed failed skipped
  all=$results/all.tsv
  {
    compgen -G "$results/*.xml" >/dev/null && test_lines "$results"/*.xml
    program_lines "$results"
  } >"$all"
  passed=$(grep -c '^pass' "$all" || true)
  failed=$(grep -c '^fail' "$all" || true)
  skipped=$(grep -c '^skip' "$all" || true)
  if ((skipped > 0)); then
    say "skipped:"
    awk -F'\t' '$1 == "skip" { n[$3]++; if (!($3 in one)) one[$3] = $2 }
      END { for (r in n) printf "  %d: %s (for one, %s)\n", n[r], r == "" ? "no reason given" : r, one[r] }' "$all" | sort
  fi
  if ((failed > 0)); then
    say "failed:"
    awk -F'\t' '$1 == "fail" { printf "  %s%s\n", $2, $3 == "" ? "" : ": " $3 }' "$all"
  fi
  if ((passed + failed + skipped == 0)); then
    [[ -z $filter ]] || die "no test ran: no name contains $filter"
    die "no test ran"
  fi
  if ((failed == 0 && status != 0)); then
    say "failed:"
    say "  a test runner ended with an error that no result file explains: see its words above"
    failed=1
  fi
  if ((skipped > 0)); then
    say "$passed passed, $failed failed, $skipped skipped"
  else
    say "$passed passed, $failed failed"
  fi
  ((failed == 0))
}
