import type { CheckpointInfo } from '../../src/studio/api.js'

/** What one may want to do with a checkpoint, as commands for a terminal. */
export function nextCommands(
  { weights, path, full, isNewest, step }: CheckpointInfo,
  file = 'run.yaml',
): { what: string; command: string }[] {
  const model = quoted(weights ?? path)
  const config = quoted(file)
  const next = [
    { what: 'talk to it', command: `trinity chat ${model}` },
    { what: 'evaluate', command: `trinity run --config ${config} --set mode=bench --set model.model_path=${model}` },
    {
      what: 'train on from here',
      command: `trinity run --config ${config} --set name=from-step-${step} --set model.model_path=${model}`,
    },
    { what: 'export for llama.cpp', command: `trinity convert --checkpoint-dir ${model} --to gguf` },
    { what: 'serve', command: `trinity serve ${model}` },
  ]
  // the same command goes on from the newest; an older one would be another history
  return full && isNewest ? [{ what: 'resume', command: `trinity run --config ${config}` }, ...next] : next
}

/** As a shell takes it for one word. */
const quoted = (word: string) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
