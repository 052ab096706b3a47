# ./x check-install: installs the Debian packages in a bare system and uses them there as a stranger would (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # top and logs are set by x.

# bare_root DIR: a minimal system of this machine's release in DIR, with its package sources.
bare_root() {
  local root=$1 mirror folder
  mirror=$(apt-get indextargets --format '$(SITE) $(CODENAME) $(COMPONENT)' "Created-By: Packages" |
    awk -v release="$(os_field VERSION_CODENAME)" '$2 == release && $3 == "main" { print $1; exit }')
  [[ -n $mirror ]] || die "apt has no source of $(os_field PRETTY_NAME)"
  quietly "making a bare $(os_field PRETTY_NAME) in ${root#"$top"/}" debootstrap \
    debootstrap --variant=minbase --include=ca-certificates "$(os_field VERSION_CODENAME)" "$root" "$mirror"
  for folder in apt/sources.list apt/sources.list.d apt/apt.conf.d apt/keyrings apt/trusted.gpg.d resolv.conf hosts ssl/certs; do
    rm -rf "${root:?}/etc/$folder"
    [[ ! -e /etc/$folder ]] || cp -rL "/etc/$folder" "$root/etc/$folder"
  done
  cp -r /usr/share/keyrings/. "$root/usr/share/keyrings/"
}

verb_check_install() {
  local root=$top/build/check-install package
  [[ $# -eq 0 ]] || misuse "check-install takes no arguments"
  [[ $(id -u) -eq 0 ]] || die "check-install changes its root folder, which takes root"
  need build package check-install
  verb_package
  rm -rf --one-file-system "$root"
  mkdir -p "$top/build"
  bare_root "$root"
  mkdir "$root/packages"
  cp "$top"/build/packages/*.deb "$root/packages/"
  cp -r examples/your_project "$root/root/"

  local inside=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -euc)
  quietly "installing g++, CMake and Weft's packages there" check-install-apt "${inside[@]}" \
    'apt-get -q update && apt-get -q -y --no-install-recommends install g++ cmake make pkg-config /packages/*.deb'
  ! "${inside[@]}" 'dpkg-query -f "\${Package}\n" -W | grep -E "llvm|mlir|clang"' || die "the packages brought a part of LLVM along"
  local passed=0 failed=0 name command
  while IFS='|' read -r name command; do
    if "${inside[@]}" "cd /root && $command" >"$logs/check-install.log" 2>&1; then
      say "passed: $name"
      passed=$((passed + 1))
    else
      say "failed: $name"
      tail -n 20 "$logs/check-install.log"
      failed=$((failed + 1))
    fi
  done < <(checks)
  rm -rf --one-file-system "$root"
  say "$passed passed, $failed failed"
  ((failed == 0))
}

# One line per check: what it is | the command, in a folder with your_project in it.
checks() {
  cat <<'END'
a project with find_package, by g++|cmake -S your_project -B built && cmake --build built
its C++ program, eager and compiled|built/hello | grep -c '5\.4772' | grep -x 2
its C program, compiled ahead of time|built/predict | grep -x '1 rows: 1.25 -1.25'
which needs none of our libraries|! ldd built/predict | grep weft
pkg-config, C++|g++ -std=c++20 your_project/hello.cpp -o hello $(pkg-config --cflags --libs weft) && ./hello
pkg-config, C|weft-compile your_project/model.mlir --freeze -o model.o --emit-header=model.h && gcc -I. your_project/predict.c model.o -o predict $(pkg-config --libs weft-runtime) && ./predict
the tools|weft-opt your_project/model.mlir --weft-phase-simplify && weft-run your_project/model.mlir --arg='iota : tensor<4x3xf32>' --print && weft --version
the licences of what is inside|grep -q 'LLVM Exceptions' /usr/share/doc/libweft-compiler*/LICENSES/LLVM.txt /usr/share/doc/weft-tools/LICENSES/LLVM.txt
END
}
