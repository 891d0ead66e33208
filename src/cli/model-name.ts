import { existsSync } from 'node:fs'
import { basename, resolve } from 'node:path'

/**
 * What a served model is called: its id as it is, the run that trained it (with the step where one was asked for), or its
 * folder. `asked` is what the user gave, `weights` the folder that it led to.
 */
export function modelName(asked: string, weights: string): string {
  if (!existsSync(weights)) return weights
  const trained = /([^\\/]+)[\\/](global_step_\d+)([\\/]|$)/.exec(resolve(weights))
  if (!trained) return basename(resolve(weights)).replace(/\.gguf$/i, '')
  const [, run, step] = trained
  return resolve(asked).includes(step) ? `${run}/${step}` : run
}
