import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterEach, describe, expect, it } from 'vitest'
import { listeningLogger } from '../../../test/mock-service.js'
import { testPython } from '../../../test/support/python.js'
import { parseConfig } from '../../config/index.js'
import { openMonitor } from '../open.js'

const dirs: string[] = []
const temporary = () => {
  dirs.push(mkdtempSync(join(tmpdir(), 'trinity-mlflow-')))
  return dirs[dirs.length - 1]
}
afterEach(() => {
  for (const dir of dirs.splice(0)) rmSync(dir, { recursive: true, force: true })
})

async function open(dir: string, args: string, role = 'trainer') {
  const yaml = `project: p\nname: n\ngroup: g\nmonitor: {monitor_type: mlflow, monitor_args: {${args}}}\n`
  const { config } = parseConfig(yaml, 'test.yaml').stages[0]
  const logger = listeningLogger()
  const whole = { ...config, monitor: { ...config.monitor, cache_dir: dir } }
  return { logger, monitor: await openMonitor({ config: whole, role, logger }) }
}

const python = testPython('mlflow')

describe.skipIf(python.absent)(`a real mlflow server${python.note}`, { timeout: 240_000 }, () => {
  it('shows what was sent', async () => {
    const dir = temporary()
    const port = await freePort()
    const uri = `http://127.0.0.1:${port}`
    const store = ['--backend-store-uri', `sqlite:///${dir}/db.sqlite`, '--artifacts-destination', join(dir, 'files')]
    const server = spawn(
      join(dirname(python.path), 'mlflow'),
      ['server', '--host', '127.0.0.1', '--port', String(port), '--workers', '1', ...store],
      {
        stdio: 'ignore',
        detached: true,
      },
    )
    try {
      await until(async () => (await fetch(`${uri}/health`)).ok)
      const job = join(dir, 'monitor')
      const first = await open(job, `uri: "${uri}"`)
      first.monitor.log({ 'critic/score/mean': 0.5, 'x/mean@2': Number.NaN, huge: Infinity }, 1)
      first.monitor.log({ 'critic/score/mean': 0.75 }, 2)
      first.monitor.table('samples', [{ prompt: 'a', reward: 1 }], 2)
      await first.monitor.close()
      const second = await open(job, `uri: "${uri}"`)
      second.monitor.rewind(1)
      second.monitor.log({ 'critic/score/mean': 0.75 }, 2)
      second.monitor.log({ 'critic/score/mean': 1 }, 3)
      await second.monitor.close()
      expect([...first.logger.lines, ...second.logger.lines].filter((line) => !line.startsWith('info'))).toEqual([])
      const script = `
import json, sys, mlflow
client = mlflow.MlflowClient(sys.argv[1])
experiment = client.get_experiment_by_name('p')
[run] = client.search_runs([experiment.experiment_id])
history = client.get_metric_history(run.info.run_id, 'critic/score/mean')
print(json.dumps({
  'name': run.info.run_name, 'status': run.info.status, 'role': run.data.tags['role'],
  'points': sorted([m.step, m.value] for m in history), 'metrics': sorted(run.data.metrics),
  'type': run.data.params['monitor.monitor_type'], 'files': [f.path for f in client.list_artifacts(run.info.run_id, 'samples')],
}))`
      const { stdout, stderr } = spawnSync(python.path, ['-c', script, uri], { encoding: 'utf8' })
      expect(stdout, stderr).not.toBe('')
      expect(JSON.parse(stdout)).toEqual({
        name: 'n_trainer',
        status: 'FINISHED',
        role: 'trainer',
        points: [
          [1, 0.5],
          [2, 0.75],
          [3, 1],
        ],
        metrics: ['critic/score/mean', 'huge', 'x/mean_at_2'],
        type: 'mlflow',
        files: ['samples/step_2.json'],
      })
    } finally {
      process.kill(-(server.pid as number), 'SIGKILL')
    }
  })
})

async function freePort(): Promise<number> {
  const server = createServer()
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as { port: number }
  await new Promise((resolve) => server.close(resolve))
  return port
}

async function until(isTrue: () => Promise<boolean>): Promise<void> {
  while (!(await isTrue().catch(() => false))) await sleep(500)
}
