import type { CheckpointInfo } from '../../src/studio/api.js'

/** What one may want to do with a checkpoint, as commands for a terminal. */
export function nextCommands(
  { weights, path, full, isNewest, step }: CheckpointInfo,
  file = 'run.yaml',
): { what: string; command: string }[] {
  const model = quoted(weights ?? path)
  const config = quoted(file)
  const begun = `--set model.model_path=${model}`
  const next = [
    { what: 'talk to it', command: `trinity chat ${model}` },
    {
      what: 'evaluate',
      // under the name of the run its own checkpoints would be evaluated
      command: `trinity run --config ${config} --set mode=bench --set name=${nameFor('eval', step)} ${begun}`,
    },
    {
      what: 'train on from here',
      command: `trinity run --config ${config} --set name=${nameFor('from', step)} ${begun}`,
    },
    {
      what: 'export for llama.cpp',
      command: `trinity convert --checkpoint-dir ${model} --to gguf --out step-${step}.gguf`,
    },
    { what: 'serve', command: `trinity serve ${model}` },
  ]
  // the same command goes on from the newest; an older one would be another history
  return full && isNewest ? [{ what: 'resume', command: `trinity run --config ${config}` }, ...next] : next
}

/** What a run that begins with a checkpoint is called; `run`: the name of the one that has made it. */
export function nameFor(what: 'eval' | 'from', step: number, run?: string): string {
  return `${run === undefined ? '' : `${run}-`}${what}-step-${step}`
}

/** As a shell takes it for one word. */
const quoted = (word: string) => (/^[\w./:@%+=-]+$/.test(word) ? word : `'${word.replaceAll("'", "'\\''")}'`)
