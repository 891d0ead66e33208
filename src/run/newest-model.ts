import { TrinityError } from '../base/error.js'
import { Checkpoints } from '../checkpoint/index.js'

/** The newest Hugging Face directory of an earlier stage. An older one in place of a damaged one is not what was asked for. */
export async function newestModel(jobDir: string, note: (text: string) => void = () => {}): Promise<string> {
  const checkpoints = await Checkpoints.open({ dir: jobDir, warn: note })
  const saved = await checkpoints.latest()
  const [newest, whole] = [await checkpoints.newestWeights(), saved && (await checkpoints.latestWeights())]
  if (whole && whole.step === newest?.step) return whole.path
  if (newest) {
    throw new TrinityError(
      'checkpoint/damaged',
      `the newest weights of the previous stage are damaged: ${newest.path}`,
      {
        path: newest.path,
        hint: 'restore them from a backup, or move the folder of that step away to start from the one before',
      },
    )
  }
  throw new TrinityError('run/no-model', `the previous stage left no checkpoint in ${jobDir}`, {
    path: jobDir,
    hint: 'run the stages from the beginning: start over with --fresh',
  })
}
