import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, describe, expect, it } from 'vitest'
import { trinity } from './cli-kit.js'

const quickstart = fileURLToPath(new URL('../../examples/quickstart/quickstart.yaml', import.meta.url))

/** An engine of a user: the native one under another name, which counts what it is asked for. */
const PLUGIN = `
import { engines, NativeEngine } from 'trinity-rft/engine'
import { appendFileSync } from 'node:fs'

const told = (line: string) => appendFileSync(process.env.ENGINE_LOG!, line + '\\n')

class Mine extends NativeEngine {
  override readonly name = 'mine'
  override openTrain(...args: Parameters<NativeEngine['openTrain']>) {
    told('train')
    return super.openTrain(...args)
  }
  override openSample(...args: Parameters<NativeEngine['openSample']>) {
    told('sample')
    return super.openSample(...args)
  }
}
engines.add('mine', { ...engines.get('native'), name: 'mine', doc: 'mine', open: async () => new Mine() })
`

describe('an engine that a plugin adds', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-plugin-engine-'))
  const log = join(dir, 'engine.log')
  process.env.ENGINE_LOG = log
  mkdirSync(join(dir, 'plugins'))
  writeFileSync(join(dir, 'plugins', 'mine.ts'), PLUGIN)
  writeFileSync(log, '')
  afterAll(() => rmSync(dir, { recursive: true, force: true }))

  const run = (trainer: string, rollout: string, ...more: string[]) =>
    trinity(dir, [
      ...['run', '--config', quickstart, '--plugin-dir', 'plugins', '--set', `checkpoint_root_dir=${dir}/out`],
      ...['--set', `trainer.trainer_type=${trainer}`, '--set', `explorer.rollout_model.engine_type=${rollout}`],
      ...['--set', 'buffer.total_steps=4', '--set', 'explorer.eval_interval=4', '--set', 'monitor.monitor_type=jsonl'],
      ...more,
    ])

  it('trains the quick start', async () => {
    const { code, stderr } = await run('mine', 'mine')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    expect(readFileSync(log, 'utf8').split('\n').filter(Boolean)).toEqual(['train', 'sample'])
  }, 120_000)

  it('gives its weights to samplers of another engine by checkpoint', async () => {
    const { code, stderr } = await run('mine', 'native', '--set', 'name=apart')
    expect(stderr).toBe('')
    expect(code).toBe(0)
    const synced = readFileSync(join(dir, 'out', 'quickstart', 'apart', 'log', 'synchronizer.log'), 'utf8')
    expect(synced).toMatch(/weights of training step 4 to the samplers by checkpoint/)
  }, 120_000)

  it('is suggested for a name that is nearly its own', async () => {
    const { code, stderr } = await run('minee', 'mine')
    expect(code).toBe(2)
    expect(stderr).toMatch(/unknown engine 'minee'[\s\S]*did you mean 'mine'\?/)
  })
})
