# ./x doctor: what this machine is, which tools are here and in which version, and what is missing (sourced by ./x).
# shellcheck shell=bash

# The highest x86-64 level whose every feature /proc/cpuinfo names; eager kernels are built for v2, v3 and v4.
cpu_level() {
  local flags level=x86-64-v1 name
  flags=" $(awk -F: '/^flags/ { print $2; exit }' /proc/cpuinfo) "
  has() { for name in "$@"; do [[ $flags == *" $name "* ]] || return 1; done; }
  if has cx16 lahf_lm popcnt sse4_1 sse4_2 ssse3; then
    level=x86-64-v2
    if has avx avx2 bmi1 bmi2 f16c fma abm movbe xsave; then
      level=x86-64-v3
      if has avx512f avx512bw avx512cd avx512dq avx512vl; then level=x86-64-v4; fi
    fi
  fi
  echo "$level"
}

# version_of FILE PACKAGE: what the program itself says, or else what dpkg says.
version_of() {
  local found=''
  if [[ -x $1 && ! -d $1 && $1 == */bin/* ]]; then
    found=$("$1" --version 2>/dev/null | grep -oE '[0-9]+(\.[0-9]+)+' | sed -n 1p) || true
  fi
  if [[ -z $found ]] && command -v dpkg-query >/dev/null; then
    found=$(dpkg-query -W -f '${Version}' "$2" 2>/dev/null) || true
  fi
  echo "${found:-version unknown}"
}

group_title() {
  case $1 in
    build) echo "to build (./x run, ./x build)" ;;
    test) echo "to test (./x test), besides" ;;
    package) echo "for ./x package, besides" ;;
    check-install) echo "for ./x check-install, besides these" ;;
    sanitize) echo "for --preset asan and tsan, besides" ;;
    bench) echo "for ./x bench, besides" ;;
    fmt) echo "for ./x fmt and ./x tidy" ;;
    git) echo "for ./x fmt and ./x tidy, and to clone" ;;
  esac
}

report_packages() {
  local group package file why last='' found
  while IFS='|' read -r group package file why; do
    if [[ $group != "$last" ]]; then
      say ""
      group_title "$group"
      last=$group
    fi
    found=$(compgen -G "$file" | sed -n 1p) || true
    if [[ -n $found ]]; then
      printf '  %-22s %-18s %s\n' "$package" "$(version_of "$found" "$package")" "$found"
    else
      printf '  %-22s %-18s %s\n' "$package" MISSING "$why"
    fi
  done < <(package_table)
}

report_gpu() {
  local driver=absent ptxas
  if [[ -r /proc/driver/nvidia/version ]]; then
    driver=$(grep -oE '[0-9]+\.[0-9]+(\.[0-9]+)?' /proc/driver/nvidia/version | sed -n 1p)
  fi
  ptxas=$(ptxas_path) || true
  say ""
  say "for the GPU (optional: PTX is made without it)"
  printf '  %-22s %s\n' "CUDA driver" "$driver"
  printf '  %-22s %s\n' ptxas "${ptxas:-absent: ./x test fetches it into build/cuda}"
}

verb_doctor() {
  local absent
  say "this machine"
  printf '  %-22s %s\n' system "$(os_field PRETTY_NAME), $(uname -m)"
  printf '  %-22s %s\n' processor "$(awk -F': ' '/^model name/ { print $2; exit }' /proc/cpuinfo), $(cpu_level)"
  printf '  %-22s %s\n' cores "$(nproc), of which ./x uses $(jobs)"
  printf '  %-22s %s\n' memory "$(awk '/^MemTotal:/ { t = $2 } /^MemAvailable:/ { a = $2 } END { printf "%.1f GiB, %.1f GiB free", t / 1048576, a / 1048576 }' /proc/meminfo)"
  printf '  %-22s %s\n' "disk" "$(df -Pk . | awk 'NR == 2 { printf "%.1f GiB free", $4 / 1048576 }')"
  report_packages
  report_gpu
  say ""
  absent=$(missing build)
  if [[ -z $absent ]]; then
    say "everything needed to build is here"
    return
  fi
  say "to build, install: apt-get update && apt-get install --no-install-recommends -y $(cut -d'|' -f2 <<<"$absent" | paste -sd' ')"
  say "(./x run and ./x test do that themselves when run as root on Debian 12)"
  return 1
}
