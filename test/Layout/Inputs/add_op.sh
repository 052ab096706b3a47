#!/usr/bin/env bash
# Follows docs/adding-an-op.md in a copy of the repository, WORK-FOLDER/weft, and says what that changed: add_op.sh REPOSITORY WORK-FOLDER
# adds its op, with `function` behind it its function made of ops.
set -euo pipefail

repository=$(cd "$1" && pwd)
copy=$2/weft
page=$repository/docs/adding-an-op.md

# The copy keeps its build folder and all times of change, so that a second run builds only what changed since the first.
mkdir -p "$copy/build"
find "$copy" -mindepth 1 -maxdepth 1 ! -name build -exec rm -rf {} +
tar -C "$repository" --exclude=./build --exclude=./.git -cf - . | tar -C "$copy" -xf -
rm -rf "$copy/build/venv"
if [[ -e $repository/build/venv ]]; then ln -s "$repository/build/venv" "$copy/build/venv"; fi

# block MARKER: the fenced block that follows the page's comment that starts with MARKER.
block() {
  awk -v marker="<!-- $1" '
    index($0, marker) == 1 { wanted = 1; next }
    wanted && /^```/ { if (inside) exit; inside = 1; next }
    inside' "$page"
}

record=dialects/Weft/IR/ElementwiseOps.td
[[ ${3:-op} == function ]] && record=dialects/Weft/IR/Composites.td
anchor=$(sed -n "s|^<!-- insert into $record before: \(.*\) -->$|\1|p" "$page")
block "insert into $record" >"$2/record.txt"
awk -v file="$2/record.txt" -v anchor="$anchor " '
  index($0, anchor) == 1 { while ((getline line < file) > 0) print line }
  { print }' "$repository/$record" >"$copy/$record"
changed=("$copy/$record")
if [[ ${3:-op} == op ]]; then
  test_file=$(sed -n 's/^<!-- create \(.*\) -->$/\1/p' "$page")
  mkdir -p "$(dirname "$copy/$test_file")"
  block "create $test_file" >"$copy/$test_file"
  changed+=("$copy/$test_file")
fi

# Edited files are as old as the newer of the page and the original.
newer=$repository/$record
[[ $page -nt $newer ]] && newer=$page
touch -r "$newer" "${changed[@]}"

cd "$copy"
find . -path ./build -prune -o -type f -printf '%P\n' | sort | while read -r file; do
  if [[ ! -e $repository/$file ]]; then
    echo "added $file"
  elif ! cmp -s "$file" "$repository/$file"; then
    echo "edited $file"
  fi
done
