/** A process that owns torch workers and then ends in the way that its argument names. Bundled and run by the test. */
import { TorchEngine } from '../../src/engine/torch/engine.js'

const [python, way, devices] = process.argv.slice(2)
const engine = new TorchEngine({ python, device: 'cpu', devices: Number(devices) }, 'tests.fake')
const call = { seq: 1, deadlineMs: 60_000 }
const model = await engine.openScore({ path: way === 'idle' ? 'x' : 'deaf' }, call)
const row = { id: 'a', tokens: Int32Array.of(1, 2), start: 1, mask: Uint8Array.of(1), temperature: 1, columns: {} }
const asked = model.forward({ rows: [row], tokenBudget: 9 }, { scores: ['logprob'] }, { ...call, seq: 2 })
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))
process.stdin.destroy()
if (way === 'idle') {
  await asked
  await new Promise((resolve) => setTimeout(resolve, 500))
  // nothing is closed: the workers must not keep this process alive, nor outlive it
} else if (way === 'throw') {
  setTimeout(() => {
    throw new Error('an accident')
  }, 100)
  await asked
} else if (way === 'exit') {
  setTimeout(() => process.exit(0), 100)
  await asked
} else await asked
