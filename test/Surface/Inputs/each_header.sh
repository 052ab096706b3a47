#!/usr/bin/env bash
# each_header.sh INCLUDE COMPILER: compiles every header below INCLUDE alone, with all usual warnings as errors.
set -u
include=$1 status=0
for header in "$include"/weft/*.h "$include"/weft/detail/*.h; do
  # shellcheck disable=SC2086 # the compiler comes with its options
  if ! echo "#include <${header#"$include"/}>" | $2 -std=c++20 -Wall -Wextra -Wshadow -Werror -fsyntax-only -x c++ -; then
    echo "$header does not compile alone"
    status=1
  fi
done
exit $status
