import { execFileSync } from 'node:child_process'
import { appendFile, cp, mkdir, rename, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { Bench } from '../../test/run/kit.js'
import { tempDir } from '../../test/support/temp-dir.js'
import { stepName, weightsPath } from '../checkpoint/layout.js'
import type {
  Attempts,
  Extremes,
  LogList,
  LogPage,
  MetricList,
  RewardHistogram,
  Rollout,
  RolloutPage,
  RunConfig,
  RunDetail,
  RunList,
  RunSummary,
  SeriesAnswer,
  Session,
  StoreList,
  TaskPage,
  Timeline,
} from './api.js'
import { modelsOf } from './playground/models.js'
import { Runs } from './run/runs.js'
import { Visitor } from './visitor.fixture.js'
import { runText } from './write/source.js'

let bench: Bench
let visitor: Visitor
beforeAll(async () => {
  bench = await Bench.make()
  await bench.run({ name: 'good', 'buffer.total_steps': 4 })
  const set = { path: join(bench.dir, 'tasks.jsonl'), default_workflow_type: 'throwing_workflow' }
  await bench.run({ name: 'bad', 'buffer.explorer_input.taskset': set }).catch(() => {})
  visitor = await Visitor.open({ folders: [bench.dir, join(bench.dir, 'not there')] })
})
afterAll(async () => {
  await visitor.close()
  bench.remove()
})

async function byName(name: string): Promise<RunSummary> {
  const { runs } = await visitor.get<RunList>('/runs')
  const found = runs.find((one) => one.name === name)
  if (!found) throw new Error(`no ${name} among ${runs.map((one) => one.name)}`)
  return found
}

/** New folders are looked for every few seconds. */
async function appeared(name: string): Promise<RunSummary> {
  await expect.poll(() => byName(name).catch(() => undefined)).toBeDefined()
  return byName(name)
}

describe('list of runs', () => {
  it('has every job below the folders, and says which folder cannot be read', async () => {
    const { runs, folders } = await visitor.get<RunList>('/runs')
    expect(runs.map(({ name }) => name).sort()).toEqual(['p/bad', 'p/good'])
    expect(folders[0].problem).toBeUndefined()
    expect(folders[1].problem).toContain('not there')
    expect(runs.flatMap(({ problems }) => problems)).toEqual([])
  })

  it('a run that got to its end', async () => {
    const run = await byName('p/good')
    expect(run).toMatchObject({ state: 'finished', mode: 'both', algorithm: 'grpo', roles: [] })
    expect(run.progress).toMatchObject({ step: 4, total: 4, role: 'trainer' })
    expect(run.progress.secondsLeft).toBeUndefined()
    const rewards = bench.metrics('explorer', 'good').flatMap((row) => row['rollout/reward/mean'] ?? [])
    expect(run.spark).toEqual({ metric: 'rollout/reward/mean', last: rewards.at(-1), values: rewards })
    expect(run.model).toBe(join(bench.dir, 'model'))
  })

  it('a run that failed, with its error', async () => {
    const run = await byName('p/bad')
    expect(run.state).toBe('failed')
    expect(run.error?.message).toContain('no such luck')
    expect(run.error?.code).toMatch(/^\w+\/[\w-]+$/)
  })

  it('a run whose process lives, and one whose process was killed', async () => {
    const lock = join(bench.job('good'), '.lock-trainer')
    await writeFile(lock, JSON.stringify({ token: 't', pid: process.pid, host: hostname(), born: '' }))
    await expect.poll(async () => (await byName('p/good')).state).toBe('running')
    expect((await byName('p/good')).roles).toEqual([{ role: 'trainer', pid: process.pid, host: hostname() }])
    await writeFile(lock, JSON.stringify({ token: 't', pid: 2 ** 30, host: hostname(), born: '' }))
    await expect.poll(async () => (await byName('p/good')).state).toBe('finished')
    await rm(lock)
  })

  it('a run that waits says for whom', async () => {
    const dir = bench.job('good')
    const status = { role: 'trainer', name: 'trainer', pid: process.pid, boot: 'b', beat: 1, hungry: 1, at: '' }
    const waits = { state: 'wants_experiences', waits_for: '8 experiences of explorer', step: 2, version: 1 }
    await writeFile(join(dir, '.status-trainer.json'), JSON.stringify({ ...status, ...waits }))
    await writeFile(
      join(dir, '.lock-trainer'),
      JSON.stringify({ token: 't', pid: process.pid, host: hostname(), born: '' }),
    )
    await expect.poll(async () => (await byName('p/good')).state).toBe('waiting')
    expect((await byName('p/good')).roles[0].waitsFor).toBe('8 experiences of explorer')
    await Promise.all(['.lock-trainer', '.status-trainer.json'].map((name) => rm(join(dir, name))))
  })

  it('a broken folder is told, and the others are shown', async () => {
    const dir = join(bench.dir, 'p', 'broken')
    await mkdir(join(dir, '.trinity'), { recursive: true })
    await writeFile(join(dir, 'best_eval.json'), '{"first": ')
    await writeFile(join(dir, 'job.json'), 'no JSON')
    await mkdir(join(dir, 'monitor'))
    await writeFile(join(dir, 'monitor', 'trainer.jsonl'), '{"step":1,"time":1,"metrics":{"a":1}}\n{"step":2,"ti')
    await expect.poll(async () => (await visitor.get<RunList>('/runs')).runs.length).toBe(3)
    const run = await byName('p/broken')
    expect(run).toMatchObject({ state: 'broken', progress: { step: 1 } })
    expect(run.problems).toHaveLength(2)
    await rm(dir, { recursive: true })
  })

  it.skipIf(process.platform === 'win32')('a pipe in a folder keeps nobody waiting', async () => {
    const dir = join(bench.dir, 'p', 'piped')
    await mkdir(join(dir, '.trinity'), { recursive: true })
    await mkdir(join(dir, 'monitor'))
    await writeFile(join(dir, 'monitor', 'trainer.jsonl'), '{"step":3,"time":1,"metrics":{"a":1}}\n')
    for (const name of ['job.json', 'run_meta.json', join('monitor', 'explorer.jsonl')]) {
      execFileSync('mkfifo', [join(dir, name)])
    }
    const run = await appeared('p/piped')
    expect(run).toMatchObject({ state: 'broken', progress: { step: 3 } })
    expect(await visitor.get<MetricList>(`/runs/${run.id}/metrics`)).toMatchObject({ roles: [{ role: 'trainer' }] })
    // the configuration that it was made from, too
    const file = join(dir, 'made.yaml')
    execFileSync('mkfifo', [file])
    const record = { pid: 1, host: 'elsewhere', began: '2026-01-01T00:00:00Z', file, config: {}, expects: {} }
    await writeFile(join(dir, '.trinity', 'run-both.json'), JSON.stringify(record))
    const found = { id: run.id, path: dir, root: bench.dir }
    expect(await runText([bench.dir], found)).toMatchObject({ from: 'what the run has recorded' })
    await rm(dir, { recursive: true })
  })

  it('of a run whose own files lead out of the folders nothing is shown but that', async () => {
    const outside = join(await tempDir(), 'outside.json')
    await writeFile(outside, '{"algorithm.algorithm_type": "not for you"}')
    for (const name of ['job.json', join('.trinity', 'run-both.json')]) {
      const dir = join(bench.dir, 'p', 'linked')
      await mkdir(join(dir, '.trinity'), { recursive: true })
      await mkdir(join(dir, 'log'))
      await writeFile(join(dir, 'job.json'), '{}')
      await mkdir(weightsPath(join(dir, stepName(3))), { recursive: true })
      await rm(join(dir, name), { force: true })
      await symlink(outside, join(dir, name))
      const run = await appeared('p/linked')
      expect(run).toMatchObject({ state: 'broken', problems: [expect.stringMatching(/leads out of/)] })
      const models = await modelsOf(new Runs([bench.dir]))
      expect(models.filter((model) => model.run === run.id)).toEqual([])
      for (const path of ['', '/config', '/metrics', '/logs']) {
        const { status, body } = await visitor.ask(`/runs/${run.id}${path}`)
        expect([status, JSON.stringify(body)]).toEqual([403, expect.not.stringContaining('not for you')])
      }
      await rm(dir, { recursive: true })
      await expect.poll(() => byName('p/linked').catch(() => undefined)).toBe(undefined)
    }
  })

  it('the log that a failure is read from lies below the folders', async () => {
    const log = join(await tempDir(), 'run.log')
    const now = new Date()
    const two = (value: number) => String(value).padStart(2, '0')
    const day = `${two(now.getMonth() + 1)}-${two(now.getDate())}`
    const time = [now.getHours(), now.getMinutes(), now.getSeconds()].map(two).join(':')
    const line = (text: string) => `ERROR ${day} ${time} [run] ${text}\n`
    await writeFile(log, line('the run failed') + line('Error: not for you'))
    const dir = join(bench.dir, 'p', 'logged')
    await mkdir(join(dir, '.trinity'), { recursive: true })
    await mkdir(join(dir, 'log'))
    await symlink(log, join(dir, 'log', 'run.log'))
    expect(await appeared('p/logged')).toMatchObject({ state: 'stopped' })
    await rm(join(dir, 'log', 'run.log'))
    await cp(log, join(dir, 'log', 'run.log'))
    await expect.poll(() => byName('p/logged')).toMatchObject({ state: 'failed', error: { message: 'not for you' } })
    await rm(dir, { recursive: true })
  })

  it('what a link leads to is not below the folders', async () => {
    const inside = join(bench.dir, 'inside')
    await mkdir(inside)
    await symlink(join(bench.dir, 'p'), join(inside, 'link'))
    const other = await Visitor.open({ folders: [inside] })
    expect((await other.get<RunList>('/runs')).runs).toEqual([])
    await other.close()
  })
})

describe('numbers of a run', () => {
  it('are listed by name and role', async () => {
    const { id } = await byName('p/good')
    const { metrics, roles } = await visitor.get<MetricList>(`/runs/${id}/metrics`)
    expect(roles.find(({ role }) => role === 'trainer')).toMatchObject({ steps: 4, first: 1, last: 4 })
    const last = bench.metrics('trainer', 'good').at(-1)
    expect(metrics.find(({ name }) => name === 'actor/grad_norm')).toEqual({
      name: 'actor/grad_norm',
      role: 'trainer',
      count: 4,
      last: last?.['actor/grad_norm'],
    })
  })

  it('come as curves over steps and time, and follow the file', async () => {
    const { id } = await byName('p/good')
    const ask = () =>
      visitor.get<SeriesAnswer>(`/runs/${id}/series`, { name: ['actor/grad_norm', 'no/such'], from: 2, to: 9 })
    const { series, unknown } = await ask()
    const rows = bench.metrics('trainer', 'good').slice(1)
    expect(unknown).toEqual(['no/such'])
    expect(series[0]).toMatchObject({ step: [2, 3, 4], y: rows.map((row) => row['actor/grad_norm']), count: 3 })
    const file = join(bench.job('good'), 'monitor', 'trainer.jsonl')
    await appendFile(file, '{"step":5,"time":1,"metrics":{"actor/grad_norm":"NaN"}}\n')
    const { series: after } = await ask()
    expect(after[0].y).toEqual([...rows.map((row) => row['actor/grad_norm']), null])
    expect(after[0].odd).toEqual([{ step: 5, value: 'NaN' }])
  })

  it('a question that makes no sense names its key', async () => {
    const { id } = await byName('p/good')
    const wrong = await visitor.ask(`/runs/${id}/series`, { name: 'a', points: 1 })
    expect(wrong).toMatchObject({ status: 400, body: { error: { code: 'studio/query', path: 'points' } } })
  })
})

describe('one run', () => {
  it('has its checkpoints, evaluations and notes', async () => {
    const { id } = await byName('p/good')
    const run = await visitor.get<RunDetail>(`/runs/${id}`)
    expect(run.checkpoints.map(({ step, full, isNewest }) => ({ step, full, isNewest }))).toEqual(
      bench.checkpoints('good').map(() => ({ step: 4, full: true, isNewest: true })),
    )
    expect(run.checkpoints[0].bytes).toBeGreaterThan(1000)
    expect(run.has).toEqual({ config: true, metrics: true, logs: true, rollouts: true })
    const bad = await visitor.get<RunDetail>(`/runs/${(await byName('p/bad')).id}`)
    expect(bad.notes.find(({ level, from }) => level === 'ERROR' && from === 'run')?.text).toBe('the run failed')
  })

  it('has its logs, and nothing that a link leads to', async () => {
    const { id } = await byName('p/good')
    const outside = join(await tempDir(), 'outside.log')
    await writeFile(outside, 'not for you\n')
    await symlink(outside, bench.job('good', 'log', 'outside.log'))
    const { logs } = await visitor.get<LogList>(`/runs/${id}/logs`)
    expect(logs.map(({ file }) => file)).toEqual(expect.arrayContaining(['explorer', 'synchronizer', 'trainer']))
    expect(logs.map(({ file }) => file)).not.toContain('outside')
    const page = await visitor.get<LogPage>(`/runs/${id}/log`, { file: 'trainer', text: 'step 4' })
    expect(page.lines[0].text).toMatch(/^INFO .* \[trainer\] step 4: /)
    for (const file of ['outside', '../job', '../../good/log/trainer']) {
      expect((await visitor.ask(`/runs/${id}/log`, { file })).status).toBe(404)
    }
    await rm(bench.job('good', 'log', 'outside.log'))
  })

  it('has its numbers, and none that a link leads to', async () => {
    const { id } = await byName('p/good')
    const outside = join(await tempDir(), 'outside.jsonl')
    await writeFile(outside, '{"step": 1, "time": 1, "metrics": {"not/for/you": 7}}\n')
    await symlink(outside, bench.job('good', 'monitor', 'outside.jsonl'))
    const { metrics, roles } = await visitor.get<MetricList>(`/runs/${id}/metrics`)
    expect(roles.map(({ role }) => role)).toEqual(['trainer', 'explorer'])
    expect(metrics.map(({ name }) => name)).not.toContain('not/for/you')
    await rm(bench.job('good', 'monitor', 'outside.jsonl'))
  })

  it('has its configuration, with what differs from the defaults', async () => {
    const { id } = await byName('p/good')
    const { changed, yaml, plan, missing } = await visitor.get<RunConfig>(`/runs/${id}/config`)
    expect(changed.find(({ key }) => key === 'buffer.total_steps')).toMatchObject({ value: 4, default: null })
    expect(changed.map(({ key }) => key)).not.toContain('synchronizer.sync_offset')
    expect(yaml).toContain('total_steps: 4')
    expect(plan.find(({ title }) => title === 'steps')?.lines).toContain('trainer: 4')
    expect(missing).toEqual([])
  })

  it('that was copied shows its own rollouts first, and says whose the others are', async () => {
    await cp(bench.job('good'), bench.job('copied'), { recursive: true })
    const other = await Visitor.open({ folders: [bench.dir] })
    const { runs } = await other.get<RunList>('/runs')
    const { id } = runs.find(({ path }) => path === bench.job('copied')) as RunSummary
    const { stores } = await other.get<StoreList>(`/runs/${id}/stores`)
    await other.close()
    const own = stores.map((one) => !one.id.startsWith('..'))
    expect(own[0]).toBe(true)
    expect(own.lastIndexOf(true)).toBe(own.filter(Boolean).length - 1)
    for (const one of stores.filter((_, i) => !own[i])) expect(one.name).toContain('../good/')
    await rm(bench.job('copied'), { recursive: true })
  })

  it('has a timeline whose spans are as long as the run measured', async () => {
    const { id } = await byName('p/good')
    const { lanes, missing, begin, end } = await visitor.get<Timeline>(`/runs/${id}/timeline`)
    const names = lanes.map(({ name }) => name)
    // weights of this model move in about 0.1 ms, and what takes less is not recorded
    expect(names.filter((name) => name !== 'synchronizer')).toEqual(['explorer', 'sampler 1', 'trainer'])
    expect([-1, 3]).toContain(names.indexOf('synchronizer'))
    expect(lanes.flatMap(({ spans }) => spans).some(({ isEstimate }) => isEstimate)).toBe(false)
    const trains = lanes.find(({ name }) => name === 'trainer')?.spans.filter(({ kind }) => kind === 'work') ?? []
    const rows = bench.metrics('trainer', 'good').filter((row) => row['time/train_step'] !== undefined)
    expect(trains.map((one) => one.step)).toEqual(rows.map(({ step }) => step))
    for (const [i, one] of trains.entries()) {
      // one clock is read inside the other
      expect(one.end - one.begin - rows[i]['time/train_step']).toBeGreaterThan(-1e-4)
      expect(one.end - one.begin - rows[i]['time/train_step']).toBeLessThan(0.5)
    }
    expect(end).toBeGreaterThan(begin)
    expect(missing).toEqual([])
    const few = await visitor.get<Timeline>(`/runs/${id}/timeline`, { spans: 10, from: begin, to: end })
    const whole = await visitor.get<Timeline>(`/runs/${id}/timeline`, { from: begin, to: end })
    const counts = ({ lanes: all }: Timeline) =>
      all.map((lane) => lane.spans.reduce((sum, { merged = 1 }) => sum + merged, 0))
    expect(counts(few)).toEqual(counts(whole))
    const spans = bench.job('good', 'monitor', 'spans')
    await rename(spans, `${spans}-gone`)
    const other = await Visitor.open({ folders: [bench.dir] })
    const guessed = await other.get<Timeline>(`/runs/${id}/timeline`)
    await other.close()
    await rename(`${spans}-gone`, spans)
    const guess =
      guessed.lanes.find(({ name }) => name === 'trainer')?.spans.filter(({ kind }) => kind === 'work') ?? []
    expect(guess.every(({ isEstimate }) => isEstimate)).toBe(true)
    expect(guess.map((one) => one.end - one.begin)).toEqual(
      rows.map((row) => expect.closeTo(row['time/train_step'], 4)),
    )
    expect(guessed.missing[0]).toContain('samplers')
  })

  it('tells what is new: numbers, log lines, its state', async () => {
    const { id } = await byName('p/good')
    const log = bench.job('good', 'log', 'trainer.log')
    const numbers = join(bench.job('good'), 'monitor', 'trainer.jsonl')
    const seen: string[] = []
    const events = visitor.events(`/events?run=${id}`, (name, data) => {
      seen.push(name)
      if (name === 'runs') void appendFile(numbers, '{"step":6,"time":2,"metrics":{"actor/loss":1}}\n')
      if (name !== 'metrics') return false
      expect(data).toEqual({ role: 'trainer', rows: [{ step: 6, time: 2, metrics: { 'actor/loss': 1 } }] })
      return true
    })
    const { to } = await visitor.get<LogPage>(`/runs/${id}/log`, { file: 'trainer' })
    await appendFile(log, 'ERROR x\n y\nINFO z\n')
    const page = await visitor.get<LogPage>(`/runs/${id}/log`, { file: 'trainer', level: 'ERROR', after: to })
    expect(page.lines.map(({ text }) => text)).toEqual(['ERROR x', ' y'])
    await events
    expect(seen[0]).toBe('runs')
  })
})

describe('rollouts', () => {
  const kinds = ['sqlite', 'jsonl'] as const
  const storeOf = async (id: string, kind: (typeof kinds)[number]) => {
    const { stores } = await visitor.get<StoreList>(`/runs/${id}/stores`)
    const found = stores.find((one) => one.kind === kind)
    if (!found) throw new Error(`no ${kind} among ${JSON.stringify(stores)}`)
    return found.id
  }

  it.each(kinds)('of %s come in pages, by filters', async (kind) => {
    const { id } = await byName('p/good')
    const store = await storeOf(id, kind)
    const first = await visitor.get<RolloutPage>(`/runs/${id}/rollouts`, { store, limit: 5, count: true })
    expect(first.rows).toHaveLength(5)
    const all: RolloutPage['rows'][number][] = [...first.rows]
    for (let { next } = first; next !== undefined; ) {
      const page = await visitor.get<RolloutPage>(`/runs/${id}/rollouts`, { store, limit: 5, cursor: next })
      all.push(...page.rows)
      next = page.next
    }
    expect(all).toHaveLength(first.count ?? 0)
    expect(new Set(all.map((row) => row.id)).size).toBe(all.length)
    const rewards = all.map(({ reward }) => reward as number)
    const best = await visitor.get<RolloutPage>(`/runs/${id}/rollouts`, { store, order: 'best', limit: 1 })
    expect(best.rows[0].reward).toBe(Math.max(...rewards))
    const some = await visitor.get<RolloutPage>(`/runs/${id}/rollouts`, { store, stepMin: 2, stepMax: 2, count: true })
    expect(some.count).toBe(all.filter(({ step }) => step === '2').length)
    const histogram = await visitor.get<RewardHistogram>(`/runs/${id}/rollouts/histogram`, { store, bins: 4 })
    expect(histogram.bins.reduce((sum, { count }) => sum + count, 0)).toBe(all.length)
    expect(histogram.mean).toBeCloseTo(rewards.reduce((sum, one) => sum + one, 0) / all.length)
    const ends = await visitor.get<Extremes>(`/runs/${id}/rollouts/extremes`, { store, step: 3, limit: 2 })
    const third = all.filter(({ step }) => step === '3').map(({ reward }) => reward as number)
    expect([ends.best[0].reward, ends.worst[0].reward]).toEqual([Math.max(...third), Math.min(...third)])
    const { tasks } = await visitor.get<TaskPage>(`/runs/${id}/rollouts/tasks`, { store, limit: 1 })
    const attempts = await visitor.get<Attempts>(`/runs/${id}/rollouts/attempts`, { store, task: tasks[0].task })
    expect(attempts.rows).toHaveLength(tasks[0].attempts)
    const wanted = all[3].response?.slice(0, 4).toUpperCase() ?? ''
    const found = await visitor.get<RolloutPage>(`/runs/${id}/rollouts`, { store, text: wanted, limit: 500 })
    const has = (text = '') => text.toUpperCase().includes(wanted)
    expect(found.rows.map((row) => row.id)).toEqual(
      all.filter(({ prompt, response }) => has(prompt) || has(response)).map((row) => row.id),
    )
  })

  it.each(kinds)('of %s show every token', async (kind) => {
    const { id } = await byName('p/good')
    const store = await storeOf(id, kind)
    const { rows } = await visitor.get<RolloutPage>(`/runs/${id}/rollouts`, { store, limit: 1 })
    const one = await visitor.get<Rollout>(`/runs/${id}/rollout`, { store, id: rows[0].id })
    const { tokens } = one
    const response = tokens.id.length - tokens.promptLength
    expect(tokens.mask).toHaveLength(response)
    expect(tokens.logprob).toHaveLength(response)
    expect(tokens.text?.slice(tokens.promptLength).join('')).toContain(one.responseText)
    expect(one.reward).toBe(rows[0].reward)
    expect(rows[0].responseLength).toBe(response)
    // the mark that the explorer leaves: the same task in every step
    const { task_index: index } = one.info as { task_index: { taskset_id: number; index: number } }
    expect(rows[0].source).toEqual({ taskset: index.taskset_id, index: index.index })
    expect(one.missing).toEqual([])
    expect((await visitor.ask(`/runs/${id}/rollout`, { store, id: 10 ** 9 })).status).toBe(404)
  })

  it('of a table that somebody names need no run', async () => {
    const db = bench.job('good', 'buffer', 'explorer_output.db')
    const url = `sqlite:///${db}`
    await expect(Visitor.open({ folders: [], view: { url, table: 'none' } })).rejects.toMatchObject({
      code: 'studio/no-table',
      hint: expect.stringContaining('it has '),
    })
    const other = await Visitor.open({ folders: [], view: { url, tokenizer: join(bench.dir, 'model') } })
    const { opens } = await other.get<Session>('/session')
    const { run, store } = opens ?? { run: '', store: '' }
    expect((await other.get<RunDetail>(`/runs/${run}`)).has).toMatchObject({ rollouts: true, logs: false })
    const { stores } = await other.get<StoreList>(`/runs/${run}/stores`)
    expect(stores).toMatchObject([{ id: store, kind: 'sqlite' }])
    const { rows } = await other.get<RolloutPage>(`/runs/${run}/rollouts`, { store, limit: 1 })
    const one = await other.get<Rollout>(`/runs/${run}/rollout`, { store, id: rows[0].id })
    expect(one.tokens.text?.join('')).toContain(one.responseText)
    await other.close()
  })

  it('a file that is no database says so, and nothing outside is opened', async () => {
    const { id } = await byName('p/good')
    await writeFile(bench.job('good', 'buffer', 'broken.db'), 'this is no database, whatever its name says')
    const { stores } = await visitor.get<StoreList>(`/runs/${id}/stores`)
    expect(stores.find(({ name }) => name === 'broken.db')?.problem).toMatch(/database/)
    for (const store of ['../../tasks.jsonl', '/etc/passwd', 'buffer/none.db#x']) {
      expect((await visitor.ask(`/runs/${id}/rollouts`, { store })).status).toBe(404)
    }
    await rm(bench.job('good', 'buffer', 'broken.db'))
  })
})
