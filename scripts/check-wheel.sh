# ./x wheel and ./x check-wheel: the Python package as a wheel, and what a stranger does with it in bare systems (sourced by ./x).
# shellcheck shell=bash
# shellcheck disable=SC2154 # top, logs and llvm are set by x.

# The most that a wheel may have.
wheel_mib=60

# The wheel lies in build/packages. The build folder build/wheel-* stays, so that the next one takes a minute.
verb_wheel() {
  local wheel
  [[ $# -eq 0 ]] || misuse "wheel takes no arguments"
  need build python
  mkdir -p build/packages
  [[ -x build/wheel-venv/bin/pip ]] || quietly "making build/wheel-venv" wheel-venv python3 -m venv build/wheel-venv
  rm -f build/packages/weft-*.whl
  CMAKE_CXX_COMPILER_LAUNCHER=ccache quietly "building a wheel by pip (minutes)" wheel \
    build/wheel-venv/bin/pip wheel "$top" --no-deps --wheel-dir build/packages
  wheel=$(compgen -G 'build/packages/weft-*.whl')
  say "built: $wheel ($(du --apparent-size -h "$wheel" | cut -f1))"
  say "to use it: python3 -m venv .venv && .venv/bin/pip install $wheel && .venv/bin/python -c 'import weft as wf; print(wf.ones(3))'"
}

verb_check_wheel() {
  local root=$top/build/check-wheel passed=0 failed=0 name command wheel
  [[ $# -eq 0 ]] || misuse "check-wheel takes no arguments"
  [[ $(id -u) -eq 0 ]] || die "check-wheel changes its root folder, which takes root"
  need check-install git
  unmount_wheel_root "$root"
  rm -rf --one-file-system "$root"
  mkdir -p "$top/build" "$CCACHE_DIR"
  bare_root "$root"
  trap 'unmount_wheel_root "$top/build/check-wheel"' EXIT
  mkdir -p "$root/root/weft/build/ccache"
  git archive HEAD | tar -x -C "$root/root/weft"
  wheel_program >"$root/root/use.py"
  # Only what was compiled with the same words before comes from there.
  mount --bind "$CCACHE_DIR" "$root/root/weft/build/ccache"
  mount -t proc proc "$root/proc"

  local inside=(chroot "$root" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin HOME=/root DEBIAN_FRONTEND=noninteractive LC_ALL=C.UTF-8 sh -euc)
  quietly "building a wheel there, in a tree of HEAD (minutes)" check-wheel-build "${inside[@]}" 'cd /root/weft && ./x wheel'
  quietly "pip install . there" check-wheel-pip "${inside[@]}" 'cd /root/weft && python3 -m venv /root/v && /root/v/bin/pip install .'
  quietly "using it there" check-wheel-use "${inside[@]}" 'cd /tmp && /root/v/bin/python /root/use.py'
  wheel=$(compgen -G "$root/root/weft/build/packages/weft-*.whl")
  mkdir -p build/packages
  cp "$wheel" build/packages/
  wheel=build/packages/$(basename "$wheel")
  unmount_wheel_root "$root"
  rm -rf --one-file-system "$root"

  bare_root "$root"
  cp "$wheel" "$root/root/"
  wheel_program >"$root/root/use.py"
  mount -t proc proc "$root/proc"
  quietly "installing Python alone in another bare system" check-wheel-apt "${inside[@]}" \
    'apt-get -q update && apt-get -q -y --no-install-recommends install python3 python3-venv'
  while IFS='|' read -r name command; do
    if "${inside[@]}" "cd /root && $command" >"$logs/check-wheel.log" 2>&1; then
      say "passed: $name"
      passed=$((passed + 1))
    else
      say "failed: $name"
      tail -n 20 "$logs/check-wheel.log"
      failed=$((failed + 1))
    fi
  done < <(wheel_checks)
  unmount_wheel_root "$root"
  rm -rf --one-file-system "$root"
  say "$passed passed, $failed failed"
  ((failed == 0))
}

unmount_wheel_root() {
  local place
  for place in "$1/root/weft/build/ccache" "$1/proc"; do
    ! mountpoint -q "$place" || umount "$place"
  done
}

# Eager, a gradient, a compiled function with a loop that a tensor decides.
wheel_program() {
  cat <<'END'
import weft as wf
x = wf.tensor([[1.0, 2.0], [3.0, 4.0]])
w = wf.Variable(x)
with wf.GradientTape() as tape:
    loss = wf.sum(w @ x)
assert tape.gradient(loss, w).numpy().tolist() == [[3.0, 7.0], [3.0, 7.0]]
print(wf.jacobian(wf.sin)(wf.tensor([0.0])))
f = wf.function(wf.grad(lambda v: wf.while_loop(lambda y: wf.sum(y) < 100.0, lambda y: y * 2.0, [v])[0]))
assert f(wf.tensor(3.0)).item() == 64.0
END
}

# One line per check: what it is | the command, in a folder with the wheel in it.
wheel_checks() {
  cat <<END
the wheel has at most $wheel_mib MiB|test \$(stat -c %s weft-*.whl) -le \$(($wheel_mib * 1048576))
pip installs it|python3 -m venv v && v/bin/pip install weft-*.whl
there is no LLVM|! find / -xdev -name '*LLVM*.so*' -o -xdev -name '*MLIR*.so*' | grep .
eager, a gradient, a compiled loop|cd /tmp && /root/v/bin/python /root/use.py
END
}
