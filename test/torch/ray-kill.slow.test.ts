import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { root } from '../support/doc-blocks.js'
import { RayCluster, rayPython } from '../support/ray.js'

const STEPS = 4
/** Trainer and sampler have room on one node each. */
const CPUS = [1, 1]

describe.skipIf(rayPython.absent)(`a run over two nodes of Ray${rayPython.note}`, () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-ray-kill-'))
  let cluster: RayCluster
  let whole: Buffer

  beforeAll(async () => {
    cluster = await RayCluster.start(CPUS)
    const { code, text } = await ended(start('whole'))
    expect(code, text).toBe(0)
    whole = weights('whole')
  }, 400_000)
  afterAll(() => {
    cluster?.close()
    rmSync(dir, { recursive: true, force: true })
  })

  function start(name: string): ChildProcess {
    const keys = {
      name,
      checkpoint_root_dir: dir,
      'cluster.ray_address': cluster.address,
      'cluster.gpu_per_node': 2,
      'trainer.trainer_type': 'torch',
      'trainer.save_interval': 1,
      'explorer.rollout_model.engine_type': 'torch',
      'explorer.eval_on_startup': false,
      'explorer.eval_interval': 100,
      'buffer.total_steps': STEPS,
      'buffer.batch_size': 4,
    }
    const set = Object.entries(keys).flatMap(([key, value]) => ['--set', `${key}=${value}`])
    const main = [join(root, 'dist/cli/main.js'), 'run', '-c', join(root, 'examples/quickstart/quickstart.yaml')]
    return spawn(process.execPath, [...main, ...set], { env: { ...process.env, TRINITY_RAY_PYTHON: rayPython.path } })
  }

  const job = (name: string) => join(dir, 'quickstart', name)
  const weights = (name: string) =>
    readFileSync(join(job(name), `global_step_${STEPS}`, 'actor/huggingface/model.safetensors'))

  /** Processes of workers, by what `trinity status` reads. */
  const workers = (name: string): { pid: number }[] =>
    JSON.parse(readFileSync(join(job(name), 'log/workers.json'), 'utf8')).workers

  async function stepOf(name: string, step: number): Promise<void> {
    while (!existsSync(join(job(name), `global_step_${step}`, '.full_checkpoint'))) await sleep(100)
  }

  const KILLS: Record<string, (run: ChildProcess, name: string) => Promise<void> | void> = {
    'a worker': (_, name) => void process.kill(workers(name)[0].pid, 'SIGKILL'),
    'another worker': (_, name) => void process.kill(workers(name)[1].pid, 'SIGKILL'),
    Trinity: (run) => void run.kill('SIGKILL'),
    'a node': () => cluster.kill(1),
  }

  it.each(Object.keys(KILLS))(
    'that loses %s resumes, and ends as if it had not',
    async (what) => {
      const name = what.replaceAll(' ', '-').toLowerCase()
      const run = start(name)
      const end = ended(run)
      await stepOf(name, 2)
      await KILLS[what](run, name)
      const { code, text } = await end
      expect(code, text).not.toBe(0)
      if (what !== 'Trinity') expect(text).toMatch(/torch worker \d .*(SIGKILL|was lost with node)/)
      if (what === 'a node') await cluster.add(CPUS[1])
      const again = await ended(start(name))
      expect(again.code, again.text).toBe(0)
      expect(again.text).toMatch(/resum/)
      expect(weights(name).equals(whole)).toBe(true)
      expect(readdirSync(job(name))).toContain('run_meta.json')
    },
    400_000,
  )
})

async function ended(run: ChildProcess): Promise<{ code: number | null; text: string }> {
  let text = ''
  const hear = (data: unknown) => {
    text += data
  }
  run.stdout?.on('data', hear)
  run.stderr?.on('data', hear)
  const [code] = await once(run, 'close')
  return { code, text }
}
