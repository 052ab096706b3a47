#!/usr/bin/env bash
# each_file.sh COMPILER FILE..: compiles every file, all of them even after one has failed.
set -u
compiler=$1 status=0
shift
for file in "$@"; do
  # shellcheck disable=SC2086 # the compiler comes with its options
  $compiler "$file" || status=1
done
exit $status
