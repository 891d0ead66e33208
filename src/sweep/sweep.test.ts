import { mkdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'
import { root } from '../../test/support/doc-blocks.js'
import { tempDir } from '../../test/support/temp-dir.js'
import { JobLock } from '../checkpoint/lock.js'
import { sweepSchema } from './spec.js'
import { runSweep } from './sweep.js'

it('is not started a second time while it is under way', async () => {
  const dir = await tempDir()
  mkdirSync(join(dir, 's'))
  const lock = await JobLock.take(join(dir, 's'), 'sweep')
  const config = join(root, 'examples/quickstart/quickstart.yaml')
  const spec = sweepSchema.parse({ name: 's', config, checkpoint_root_dir: dir })
  const never = new AbortController().signal
  const options = { program: ['false'], stop: never, now: never, say() {} }
  await expect(runSweep(spec, options)).rejects.toMatchObject({
    code: 'checkpoint/in-use',
    message: `process ${process.pid} is already the sweep of this job`,
  })
  await lock.release()
})
