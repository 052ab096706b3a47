#!/usr/bin/env bash
# each_header.sh INCLUDE COMPILER [together]: compiles every public header of INCLUDE alone, or all in one, with all usual warnings as errors.
set -u
include=$1 compiler=$2 how=${3:-alone} status=0
mapfile -t headers < <(cd "$include" && find weft -maxdepth 1 -name '*.h' | sort)

compiles() { # the text on standard input
  # shellcheck disable=SC2086 # the compiler comes with its options
  $compiler -std=c++20 -Wall -Wextra -Wshadow -Werror -fsyntax-only -x c++ -
}

if [[ $how == together ]]; then
  printf '#include <%s>\n' "${headers[@]}" | compiles
  exit
fi
for header in "${headers[@]}"; do
  if ! echo "#include <$header>" | compiles; then
    echo "$header does not compile alone"
    status=1
  fi
done
exit $status
