import { TrinityError } from '../base/error.js'
import { Checkpoints } from '../checkpoint/index.js'

/** The newest Hugging Face directory of an earlier stage. */
export async function newestModel(jobDir: string): Promise<string> {
  const checkpoints = await Checkpoints.open({ dir: jobDir })
  const saved = await checkpoints.latest()
  const weights = saved && (await checkpoints.latestWeights())
  if (weights) return weights.path
  throw new TrinityError('run/no-model', `the stage before has left no checkpoint in ${jobDir}`, {
    path: jobDir,
    hint: 'run the stages from the beginning: start over with --fresh',
  })
}
