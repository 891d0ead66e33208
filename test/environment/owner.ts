/** A process that has worlds in a worker and then ends in the way that its argument names. Bundled and run by the test. */
import { openEnvironment } from '../../src/environment/index.js'

const [python, way] = process.argv.slice(2)
const world = await openEnvironment('gymnasium', { id: 'tests.world.faulty:Faulty-v0', python })
await world.reset({ row: {}, seed: 1 })
const { observation } = await world.step('child')
process.stdout.write(`${observation}\n`)
if (way === 'throw') {
  setTimeout(() => {
    throw new Error('an accident')
  }, 100)
}
if (way === 'exit') setTimeout(() => process.exit(0), 100)
// idle: nothing is closed; the worker must not keep this process alive, nor outlive it
if (way !== 'idle') await world.step(way === 'spin' ? 'spin' : 'hang')
