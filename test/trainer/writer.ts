/** A process that does nothing but write checkpoints, to be killed at any moment. */
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Checkpoints } from '../../src/checkpoint/index.js'

const [dir, size] = [process.argv[2], Number(process.argv[3])]
const checkpoints = await Checkpoints.open({ dir, roles: ['trainer'], keep: 3, identity: { algorithm: 'test' } })
const from = (await checkpoints.latest())?.step ?? 0
process.stdout.write(`from ${from}\n`)

for (let step = from + 1; ; step++) {
  const folder = async (path: string) => {
    await mkdir(path, { recursive: true })
    await writeFile(join(path, 'weights.bin'), Buffer.alloc(size, step % 251))
    await writeFile(join(path, 'more.json'), JSON.stringify({ step }))
  }
  if (step % 3 === 0) await checkpoints.saveWeights(step, folder)
  await checkpoints.save(step, {
    folders: { actor: (path) => folder(join(path, 'huggingface')), critic: folder },
    state: { step },
    meta: { trainer: { latest_iteration: step } },
  })
  await checkpoints.recordEval(step, { 'eval/set/accuracy': (step * 7) % 5 })
}
