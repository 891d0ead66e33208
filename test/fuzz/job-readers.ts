import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Checkpoints } from '../../src/checkpoint/index.js'
import { JobLock, lockHolders } from '../../src/checkpoint/lock.js'
import { createExperience } from '../../src/experience/create.js'
import { readReport } from '../../src/perf/read-report.js'
import { readRecords } from '../../src/run/record.js'
import { History } from '../../src/serve/history.js'
import type { ApiError, RunList, StoreList } from '../../src/studio/api.js'
import { Visitor } from '../../src/studio/visitor.fixture.js'
import { Bench } from '../run/kit.js'
import { measured } from '../studio/measured.js'
import type { FileReader } from './run-files.js'

const JOB_FORMS = [
  [/(\.full_checkpoint|\.written\.json)$/, 'json'],
  [/\.(json|jsonl)$/, 'json'],
  [/\.(txt|log|yaml)$/, 'text'],
  [/\.safetensors$/, 'binary'],
  [/\.db$/, 'database'],
] as const

const KEYS = { 'trainer.save_interval': 2, 'buffer.total_steps': 4 }

/** A finished job of four steps on the mock engine, as a user's run leaves it. */
async function finishedJob(dir: string): Promise<void> {
  const bench = await Bench.make(dir)
  await bench.run(KEYS)
}

/** Reads a job folder as a starting process does, without taking a role in it. */
async function lookAt(dir: string): Promise<void> {
  const job = join(dir, 'p', 'job')
  await lockHolders(job)
  await readRecords(job)
  const checkpoints = await Checkpoints.open({ dir: job })
  try {
    await checkpoints.all()
    await checkpoints.newestWeights()
    await checkpoints.latest()
    await checkpoints.latestWeights()
    await checkpoints.bestEval()
    for (const name of ['trainer', 'explorer']) await checkpoints.readMeta(name)
  } finally {
    await checkpoints.close()
  }
}

const RUN_ROUTES = [
  ...['', '/config', '/logs', '/stores', '/metrics', '/timeline', '/source', '/deletion', '/tasksets', '/exports'],
  ...['/series?name=loss&name=reward', '/log?file=trainer.log', '/log?file=explorer.log'],
]
const STORE_ROUTES = ['', '/histogram', '/extremes?count=2', '/tasks', '/attempts?task=0&batch=1']

/** Asks Studio everything about the runs in a folder. A failure that has no code is thrown. */
async function studio(dir: string): Promise<void> {
  const visitor = await Visitor.open({ folders: [dir] })
  const ask = async <T>(path: string): Promise<T> => {
    const { status, body } = await visitor.ask<T & Partial<ApiError>>(path)
    if (status >= 500 && body.error?.code === 'studio/failure') throw new Error(`${path}: ${body.error.message}`)
    return body
  }
  try {
    const { runs } = await ask<RunList>('/runs')
    for (const { id } of runs ?? []) {
      for (const route of RUN_ROUTES) await ask(`/runs/${id}${route}`)
      const { stores = [] } = await ask<StoreList>(`/runs/${id}/stores`)
      for (const store of stores) {
        for (const route of STORE_ROUTES) {
          await ask(
            `/runs/${id}/rollouts${route}${route.includes('?') ? '&' : '?'}store=${encodeURIComponent(store.id)}`,
          )
        }
      }
    }
  } finally {
    await visitor.close()
  }
}

const historyIn = (dir: string) => `sqlite:///${join(dir, 'h.db')}`
const HOLDER = { token: '0123456789abcdef', pid: 2 ** 22, host: 'elsewhere', born: '1' }

/** Readers of the files of a job: what a run resumes from, and what Studio shows. */
export const JOB_READERS: readonly FileReader[] = [
  { name: 'job folder', sample: finishedJob, forms: inJob(JOB_FORMS), read: lookAt },
  { name: 'job folder in Studio', sample: finishedJob, forms: inJob(JOB_FORMS), read: studio, weight: 0.5 },
  {
    name: 'resumed job',
    sample: finishedJob,
    forms: inJob(JOB_FORMS),
    read: (dir) => Bench.in(dir).run({ ...KEYS, 'buffer.total_steps': 5 }),
    writes: true,
    weight: 0.5,
  },
  {
    name: 'lock',
    sample: (dir) => writeFile(join(dir, '.lock-trainer'), JSON.stringify(HOLDER)),
    forms: [[/./, 'json']],
    read: async (dir) => {
      await lockHolders(dir)
      const lock = await JobLock.take(dir, 'trainer', 0)
      await lock.release()
    },
    writes: true,
    weight: 0.05,
  },
  {
    name: 'history of answers',
    sample: async (dir) => {
      const history = await History.open(historyIn(dir))
      const suffixes = ['a', 'b', 'c']
      await history.record(suffixes.map((suffix) => createExperience({ eid: { suffix }, tokens: [1, 2] })))
      await history.rate({ ids: ['a'], reward: 1, task: 't', run: 0 })
      await history.close()
    },
    forms: [[/h\.db$/, 'database']],
    read: async (dir) => {
      const history = await History.open(historyIn(dir))
      try {
        await history.rate({ ids: ['b'], reward: 0.5, task: 'naïve', run: 1 })
        await history.begin(1)
        await history.end(1)
        await history.expire(0)
      } finally {
        await history.close()
      }
    },
    writes: true,
  },
  {
    name: 'performance report',
    sample: (dir) => writeFile(join(dir, 'output.json'), JSON.stringify(measured)),
    forms: [[/./, 'json']],
    read: (dir) => readReport(join(dir, 'output.json')),
    weight: 0.5,
  },
]

/** Only files of the job: the model and the tasks beside it have readers of their own. */
function inJob(forms: FileReader['forms']): FileReader['forms'] {
  return forms.map(([pattern, form]) => [new RegExp(`^p[\\\\/]job[\\\\/].*${pattern.source}`), form])
}
