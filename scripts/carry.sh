#!/usr/bin/env bash
# Packs Trinity with Node and everything it needs into one archive, for a machine that has neither Node nor a network:
#   scripts/carry.sh trinity.tar.xz        then there: tar xf trinity.tar.xz && trinity/trinity run --config …
set -euo pipefail
cd "$(dirname "$0")/.."
target=$(realpath -m "${1:?usage: scripts/carry.sh FILE.tar.xz or FILE.tar}")
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/trinity
mkdir -p "$folder"

cp -r dist package.json LICENSE "$folder"
# of what was made here, the compiled engine alone: neither compilers nor models that examples have made
git ls-files -z --cached --others --exclude-standard examples native | xargs -0 cp --parents -t "$folder"
cp --parents native/build/*.node "$folder"
mkdir "$folder/python" && cp -r python/trinity_agent python/trinity_served python/trinity_torch python/trinity_world "$folder/python"
find "$folder" -name __pycache__ -prune -exec rm -rf {} +
find "$folder/dist" -name '*.map' -delete
# production packages alone, without those built for another C library
npm ls --omit=dev --all --parseable 2>/dev/null | tail -n +2 | sed "s|^$PWD/||" | grep -v musl | while read -r package; do
  mkdir -p "$folder/$(dirname "$package")"
  cp -r "$package" "$folder/$(dirname "$package")"
done
cp "$(command -v node)" "$folder/node"
strip "$folder/node" 2>/dev/null || true
printf '#!/bin/sh\nhere=$(cd "$(dirname "$0")" && pwd)\nexec "$here/node" "$here/dist/cli/main.js" "$@"\n' > "$folder/trinity"
chmod +x "$folder/trinity"

mkdir -p "$(dirname "$target")"
# to be packed once more, it may stay as it is
case $target in *.tar) pack=cat ;; *) pack='xz -6 -T0' ;; esac
tar -C "$work" -cf - trinity | $pack > "$target"
du -h "$target" | cut -f1
