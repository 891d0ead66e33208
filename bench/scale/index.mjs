// How far the control plane goes without GPUs: engines that answer when real ones would, thousands of rollouts in one
// process, then several processes with one PostgreSQL server. docs/scaling.md says what follows from it.
// --only=one|many, --rollouts=N in flight (10000), --seconds=N of each measurement, --tokens=N of an answer (2048; with
// PostgreSQL 512), --explorers=1,2 and --writers=1,2,4,8,16: how many processes.
import { mkdtempSync, rmSync } from 'node:fs'
import { availableParallelism, tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bundleSources, format, printTable, watchHost } from '../lib.mjs'
import { manyProcesses } from './many.mjs'
import { group } from './processes.mjs'

export const title = 'Scale: the control plane without GPUs'
export const about = '10,000 rollouts in one process, and how many processes one PostgreSQL server serves'

const SOURCES = [
  ...['explorer/index', 'buffer/index', 'pipeline/index', 'task/index', 'run/pipeline', 'experience/index'],
  ...['model/character-tokenizer', 'model/index', 'workflow/index', 'base/random/index'],
  ...['../test/config-kit', '../test/buffer/server'],
]

export async function run(args) {
  const option = (name, fallback) => args.find((arg) => arg.startsWith(`--${name}=`))?.split('=')[1] ?? fallback
  const number = (name, fallback) => Number(option(name, fallback))
  const list = (name, fallback) => option(name, fallback).split(',').map(Number)
  const only = option('only', '')
  const code = mkdtempSync(fileURLToPath(new URL('../../node_modules/.trinity-bench-', import.meta.url)))
  const folder = mkdtempSync(join(tmpdir(), 'trinity-scale-'))
  try {
    const sources = await bundleSources(code, SOURCES)
    const stolen = watchHost()
    if (only !== 'many') {
      const size = { rollouts: number('rollouts', 10_000), tokens: number('tokens', 2048) }
      await oneProcess(sources, folder, { ...size, seconds: number('seconds', 15) })
    }
    if (only !== 'one') {
      const counts = { explorers: list('explorers', '1,2'), writers: list('writers', '1,2,4,8,16') }
      await manyProcesses(sources, folder, { ...counts, tokens: number('tokens', 512), seconds: number('seconds', 8) })
    }
    const share = stolen()
    if (share !== undefined) console.log(`\nthe host took away ${format(100 * share)} % of the processors' time`)
  } finally {
    rmSync(folder, { recursive: true, force: true })
    rmSync(code, { recursive: true, force: true })
  }
}

/** Explorer, pipeline and an in-memory queue in one process. */
async function oneProcess(sources, folder, { rollouts, tokens, seconds }) {
  const base = { seed: 1, name: 'explorer', rollouts, prompt: 256, batch: 1000 }
  const quarter = Math.round(tokens / 4)
  const shapes = {
    [`one turn of ${tokens}`]: { tokens, turns: 1, toolMs: 0 },
    [`one turn of ${tokens}, save_input: false`]: { tokens, turns: 1, toolMs: 0, saveInput: false },
    [`four turns of ${quarter}, tools 10 s`]: { tokens: quarter, turns: 4, toolMs: 10_000 },
  }
  const rows = []
  for (const [what, shape] of Object.entries(shapes)) {
    const size = { ...base, ...shape, folder: join(folder, `one-${rows.length}`) }
    const [result] = await group(sources, [{ file: 'explorer.mjs', size }], async (wait) => wait(seconds))
    rows.push({ what, ...result })
    rmSync(size.folder, { recursive: true, force: true })
  }
  console.log(`\none process, ${rollouts} rollouts in flight, prompts of 256 tokens; ${seconds} s each`)
  printTable(
    rows.map(({ what, ms, cpu, running, rollouts: ended, calls, p99, own, ownMax, rss }) => ({
      what,
      away: Math.round(running),
      'rollouts/s': format((1000 * ended) / ms),
      'calls/s': format((1000 * calls) / ms),
      cores: format(cpu / ms),
      'calls/core s': format((1000 * calls) / cpu),
      'lag p99 ms': format(p99),
      'own p99 ms': format(own),
      'own max ms': format(ownMax),
      'RSS MB': Math.round(rss),
    })),
  )
  const own = Math.max(...rows.map((row) => row.own))
  const lag = Math.max(...rows.map((row) => row.p99))
  const rss = Math.max(...rows.map((row) => row.rss))
  const verdict = (met) => (met ? 'met' : 'MISSED')
  console.log(
    `away: wait for an engine or a tool, not for this process. own: processor time of the loop's thread between two turns`,
  )
  console.log(
    `lag p99 ${format(lag)} ms, own ${format(own)} ms: target < 50, ${verdict(lag < 50)}, own ${verdict(own < 50)}; ` +
      `RSS ${Math.round(rss)} MB: target < 2048, ${verdict(rss < 2048)} (${availableParallelism()} cores, perhaps shared)`,
  )
}
