# The Debian packages each step of ./x needs, how their presence is seen, and how they are installed (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # logs and top are set by x.

# One line per package: who needs it | package | a file it brings (a pattern) | what it is for.
# Presence is judged by the file, not by dpkg: tools that came another way serve as well.
package_table() {
  cat <<'END'
build|clang-22|/usr/lib/llvm-22/bin/clang++|the C++ compiler
build|lld-22|/usr/lib/llvm-22/bin/ld.lld|the linker
build|llvm-22-dev|/usr/lib/llvm-22/lib/cmake/llvm/LLVMConfig.cmake|LLVM's headers and library
build|llvm-22-tools|/usr/lib/llvm-22/bin/FileCheck|TableGen, FileCheck and lit
build|libmlir-22-dev|/usr/lib/llvm-22/lib/cmake/mlir/MLIRConfig.cmake|MLIR's headers and library
build|mlir-22-tools|/usr/lib/llvm-22/bin/mlir-tblgen|the generator of MLIR dialects
build|cmake|/usr/bin/cmake|configures the build
build|ninja-build|/usr/bin/ninja|runs the build
build|ccache|/usr/bin/ccache|makes the second build fast
build|libgtest-dev|/usr/include/gtest/gtest.h|GoogleTest, for the unit tests
build|libgmock-dev|/usr/include/gmock/gmock.h|GoogleMock, for the unit tests
build|nlohmann-json3-dev|/usr/include/nlohmann/json.hpp|JSON, of safetensors files, data sets and the tools
build|libxxhash-dev|/usr/include/xxhash.h|digests of checkpoints
build|libpng-dev|/usr/include/png.h|PNG images, of data sets
build|libjpeg62-turbo-dev|/usr/include/jpeglib.h|JPEG images, of data sets
build|zlib1g-dev|/usr/include/zlib.h|the compression in .npz files
build|libcli11-dev|/usr/include/CLI/CLI.hpp|the tools' command lines
build|libcpp-httplib-dev|/usr/include/httplib.h|HTTP, of examples/serve
build|pkg-config|/usr/bin/pkg-config|finds it
run|python3|/usr/bin/python3|fetches digits to train on
run|python3-venv|/usr/lib/python3.*/ensurepip/__init__.py|pip, which fetches them
python|python3|/usr/bin/python3|what the Python package is for
python|python3-venv|/usr/lib/python3.*/ensurepip/__init__.py|a virtual environment for nanobind and pytest
python|python3-dev|/usr/include/python3.*/Python.h|its headers, which extension modules need
test|python3|/usr/bin/python3|runs lit, LLVM's test runner
test|python3-venv|/usr/lib/python3.*/ensurepip/__init__.py|a virtual environment for NumPy, which tests compare with
test|g++|/usr/bin/g++|compiles users' programs in the tests
test|pkg-config|/usr/bin/pkg-config|finds the installed library in the tests
test|libopenblas0-pthread|/usr/lib/*/openblas-pthread/libopenblas.so.0|OpenBLAS, for eigenvalues and singular values of large matrices
test|openmpi-bin|/usr/bin/mpirun|starts programs of several processes, which it brings an MPI library for
package|dpkg-dev|/usr/bin/dpkg-shlibdeps|names the packages that a package needs
package|file|/usr/bin/file|tells CPack what it strips
check-report|chromium|/usr/bin/chromium|opens the page of a run
check-install|debootstrap|/usr/sbin/debootstrap|makes a bare system to install in
sanitize|libclang-rt-22-dev|/usr/lib/llvm-22/lib/clang/22/lib/*/libclang_rt.asan*.a|the sanitizers' run-time libraries
bench|libdnnl2|/usr/lib/*/libdnnl.so.2|oneDNN, a peer of the benchmarks
bench|libopenblas0-pthread|/usr/lib/*/openblas-pthread/libopenblas.so.0|OpenBLAS, a peer of the benchmarks
bench|valgrind|/usr/bin/valgrind|counts the instructions of an eager op
fmt|clang-format-22|/usr/lib/llvm-22/bin/clang-format|formats C++
fmt|clang-tidy-22|/usr/lib/llvm-22/bin/clang-tidy|checks C++
git|git|/usr/bin/git|names the files of the repository
END
}

# here PATTERN: whether a file matches.
here() { compgen -G "$1" >/dev/null; }

# missing GROUP..: the lines of the table, of these groups, whose file is not here.
missing() {
  local group package file why
  while IFS='|' read -r group package file why; do
    if [[ " $* " == *" $group "* ]] && ! here "$file"; then echo "$group|$package|$file|$why"; fi
  done < <(package_table)
}

# need GROUP..: returns when everything of these groups is here, having installed it if it could; says what to do if not.
need() {
  local absent names
  absent=$(missing "$@")
  [[ -n $absent ]] || return 0
  mapfile -t names < <(cut -d'|' -f2 <<<"$absent")
  say "These Debian packages are missing:"
  awk -F'|' '{ printf "  %-22s %s\n", $2, $4 }' <<<"$absent"
  explain_if_not_installable "${names[@]}"
  install "${names[@]}"
  absent=$(missing "$@")
  [[ -z $absent ]] || die "apt-get installed them, yet these files are still missing: $(cut -d'|' -f3 <<<"$absent" | paste -sd' ')." \
    "If they were removed by hand, bring them back with: apt-get install --reinstall $(cut -d'|' -f2 <<<"$absent" | paste -sd' ')"
}

os_field() { (. /etc/os-release 2>/dev/null && echo "${!1-}"); }

# Ends with exit status 1 and the commands to type, unless this is a Debian system and we are root on it.
explain_if_not_installable() {
  local command="apt-get update && apt-get install --no-install-recommends -y $*"
  local system
  system=$(os_field PRETTY_NAME)
  if ! command -v apt-get >/dev/null || [[ $(os_field ID) != debian ]]; then
    say ""
    say "This is ${system:-an unknown system}, and ./x installs packages on Debian 12 only. Install by hand:"
    say "  LLVM, MLIR, clang and lld 22.1, with their development files, in /usr/lib/llvm-22"
    say "  CMake 3.25 or newer, Ninja, ccache, GoogleTest and GoogleMock, nlohmann-json, xxHash, CLI11, libpng, libjpeg and zlib,"
    say "  cpp-httplib 0.11 and pkg-config (without them examples/serve is left out)"
    say "  for ./x test also Python 3 with its venv module"
    say "On Debian 12 the missing ones are:"
    say "  $command"
    exit 1
  fi
  if [[ $(id -u) -ne 0 ]]; then
    say ""
    say "Installing them needs root. As root, or with sudo in front of each apt-get:"
    say "  $command"
    say "Then run the same ./x command again; it needs no root once they are here."
    exit 1
  fi
}

# install PACKAGE..: a line for each tenth of the way; apt's own words are in the log.
install() {
  local package unavailable='' log=$logs/apt.log
  mkdir -p "$logs"
  quietly "reading Debian's package lists" apt-update apt-get -q update
  for package in "$@"; do
    [[ $(LC_ALL=C apt-cache policy "$package") == *"Candidate: "[^\(]* ]] || unavailable+=" $package"
  done
  [[ -z $unavailable ]] || die "apt-get knows no package named$unavailable here ($(os_field PRETTY_NAME)). Debian 12 has them: its suites" \
    "bookworm and bookworm-security must both be in /etc/apt/sources.list.d"
  say "installing them with apt-get (output in ${log#"$top"/})"
  if ! apt-get -q -y --no-install-recommends -o DPkg::Lock::Timeout=300 -o Dpkg::Use-Pty=0 -o APT::Status-Fd=3 \
    install "$@" 3>&1 >"$log" 2>&1 | apt_progress; then
    tail -n 20 "$log" >&2
    die "apt-get install failed: its last words are above"
  fi
}

# Turns apt's status lines (kind:package:percent:text) into one line for each tenth.
apt_progress() {
  awk -F: '
    $1 == "dlstatus" { kind = "downloaded" }
    $1 == "pmstatus" { kind = "installed" }
    $1 == "dlstatus" || $1 == "pmstatus" {
      tenth = int($3 / 10)
      if (tenth > last[kind]) { last[kind] = tenth; printf "  %s %d %%\n", kind, tenth * 10; fflush() }
    }'
}

# Where ptxas is, as test/lit.cfg.py looks for it.
ptxas_path() {
  command -v ptxas || compgen -G '/usr/local/cuda*/bin/ptxas' | sed -n 1p || compgen -G build/cuda/ptxas
}

# Where the driver's header is, as test/lit.cfg.py looks for it.
cuda_header_path() { compgen -G build/cuda/cuda.h || compgen -G '/usr/local/cuda*/include/cuda.h' | sed -n 1p; }
