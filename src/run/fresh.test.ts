import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import * as fs from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { BASE, resolveAll } from '../../test/config-kit.js'
import { deepFolder } from '../../test/deep-folder.js'
import { openDatabase } from '../base/database/database.js'
import { openLogDir } from '../base/log/log-dir.js'
import { openBuffer, openKeeper } from '../buffer/index.js'
import { Checkpoints } from '../checkpoint/index.js'
import { markJob, markNewFile } from '../checkpoint/job-mark.js'
import { LocalMonitor } from '../monitor/local.js'
import { startOver } from './fresh.js'
import { leftovers } from './leftovers.js'
import { claimFile } from './outside.js'
import { StageMeta } from './stage-meta.js'

vi.mock('node:fs/promises', { spy: true })

let dir: string
let job: string
let remove: () => void
beforeEach(() => {
  ;({ dir, remove } = deepFolder())
  job = join(dir, 'p', 'job')
})
afterEach(() => remove())

const resolved = (set: string[] = [], more = '') =>
  resolveAll(`project: p\nname: job\n${BASE}${more}`, { cwd: dir, set: [`checkpoint_root_dir=${dir}`, ...set] })
const sql = (path: string) => [`buffer.trainer_input.experience_buffer={storage_type: sql, path: "sqlite:///${path}"}`]
const queue = (path: string) => [`buffer.trainer_input.experience_buffer={storage_type: queue, path: "${path}"}`]
const put = (path: string, text = 'mine\n') => {
  mkdirSync(dirname(path), { recursive: true })
  writeFileSync(path, text)
  return path
}
const database = async (file: string, owner: string) =>
  (await openBuffer({ name: 'b', storage_type: 'sql', path: `sqlite:///${file}` }, { job: owner })).close()
const refused = (set: string[] = [], more = '') =>
  expect(startOver(resolved(set, more))).rejects.toMatchObject({ code: 'cli/fresh' })

/** What a run leaves, written by what writes it in a run. */
async function work(at = job, name = 'p/job'): Promise<void> {
  await markJob(at, name)
  const logs = openLogDir({ dir: join(at, 'log') })
  for (const one of ['run', 'explorer_runner_0']) logs.logger(one).info('hello\nthere')
  await logs.close()
  const monitor = new LocalMonitor(join(at, 'monitor'), 'trainer')
  monitor.log({ loss: 1 }, 1)
  monitor.table('samples', [{ a: 1 }], 1)
  await monitor.close()
  const checkpoints = await Checkpoints.open({ dir: at, roles: ['trainer', 'explorer'], identity: { a: 'b' } })
  const weights = async (to: string) => void put(join(to, 'model.safetensors'))
  await checkpoints.save(1, {
    folders: { actor: (to) => weights(join(to, 'huggingface')) },
    state: {},
    meta: { trainer: {}, explorer: {} },
  })
  await checkpoints.saveWeights(2, weights)
  await checkpoints.recordEval(1, { 'eval/x/accuracy/mean': 1 })
  await checkpoints.writeMeta('run', {})
  await checkpoints.close()
  const main = join(at, 'buffer', 'experience_buffer.jsonl')
  await markNewFile(at, name, main)
  await (await openKeeper(main, 'b', {})).close()
  await database(join(at, 'buffer', 'explorer_output.db'), name)
}

describe('starting over', () => {
  it('deletes everything that a run has written, and says how much', async () => {
    await work()
    put(join(job, 'global_step_3.tmp-1-0a0b0c0d', 'actor', 'half'))
    put(join(job, 'run_meta.json.17-0a0b0c0d.tmp'))
    put(join(job, '.lock-explorer.0123456789abcdef'), '{}')
    put(join(dir, 'p', 'other', 'global_step_1', 'x'))
    const { places, kept } = await leftovers(resolved())
    expect(kept).toEqual([])
    expect(places).toEqual([{ path: job, files: expect.any(Number), bytes: expect.any(Number) }])
    expect(places[0].files).toBeGreaterThan(15)
    await startOver(resolved())
    expect(readdirSync(join(dir, 'p'))).toEqual(['other'])
    expect((await leftovers(resolved())).places).toEqual([])
  })

  it('leaves what is not from the job, names it, and takes the folders that are empty then', async () => {
    await work()
    const mine = [
      'notes.txt',
      'my_meta.json',
      'folder/er/x',
      'log/app.log',
      'log/run.txt',
      'monitor/trainer_notes.jsonl',
      'monitor/report.html',
      'buffer/mine.db',
      'buffer/mine.jsonl',
      'bench/table.csv',
      '.trinity/mine',
    ].map((name) => put(join(job, name)))
    const { kept } = await startOver(resolved())
    expect(kept.sort()).toEqual([...mine.filter((path) => !path.includes('folder')), join(job, 'folder')].sort())
    for (const path of mine) expect(readFileSync(path, 'utf8')).toBe('mine\n')
    expect(readdirSync(job).sort()).toEqual(
      ['.trinity', 'bench', 'buffer', 'folder', 'log', 'monitor', 'my_meta.json', 'notes.txt'].sort(),
    )
    expect(readdirSync(join(job, 'log'))).toEqual(['app.log', 'run.txt'])
  })

  it('that is interrupted leaves no sign of a finished run, and can be done again', async () => {
    await work()
    put(join(job, 'explorer_run_meta.json'))
    const gone: string[] = []
    const { unlink } = await vi.importActual<typeof fs>('node:fs/promises')
    vi.mocked(fs.unlink).mockImplementation(async (path) => {
      if (gone.length === 4) throw new Error('killed')
      gone.push(basename(String(path)))
      await unlink(path)
    })
    await expect(startOver(resolved())).rejects.toThrow('killed')
    vi.mocked(fs.unlink).mockReset().mockImplementation(unlink)
    const progress = ['explorer_run_meta.json', 'latest_checkpointed_iteration.txt', 'latest_state_dict_iteration.txt']
    expect(gone.sort()).toEqual([...progress, 'run_meta.json'])
    await startOver(resolved())
    expect(existsSync(job)).toBe(false)
  })

  it('keeps its marks to the end and its locks beyond, also below a folder that is called as the marks', async () => {
    const root = join(dir, '.trinity')
    await work(join(root, 'p', 'job'))
    const gone: string[] = []
    const { unlink } = await vi.importActual<typeof fs>('node:fs/promises')
    vi.mocked(fs.unlink).mockImplementation(async (path) => {
      gone.push(String(path))
      await unlink(path)
    })
    await startOver(resolved([`checkpoint_root_dir=${root}`]))
    vi.mocked(fs.unlink).mockReset().mockImplementation(unlink)
    const marks = gone.map((path) => path.includes('/job/.trinity/'))
    expect(marks.lastIndexOf(false)).toBe(marks.indexOf(true) - 1)
    expect(gone.filter((path) => basename(path).startsWith('.lock-'))).toEqual([])
    expect(existsSync(join(root, 'p', 'job'))).toBe(false)
  })

  it('takes a damaged checkpoint that was kept, and leaves what it does not list', async () => {
    await work()
    const [whole, torn] = ['global_step_1.damaged-0123abcd', 'global_step_2.damaged-0123abcd'].map((n) => join(job, n))
    renameSync(join(job, 'global_step_1'), whole)
    put(join(torn, 'actor', 'x'))
    const mine = [put(join(whole, 'notes.txt')), put(join(job, 'global_step_9.damaged-by-me', 'x'))]
    const { kept } = await startOver(resolved())
    expect(kept.sort()).toEqual([mine[0], join(torn, 'actor', 'x'), dirname(mine[1])].sort())
    expect(readdirSync(whole)).toEqual(['notes.txt'])
  })

  it('is refused where another job has its folder in the place of a checkpoint', async () => {
    await work()
    await work(join(job, 'global_step_7'), 'p/job/global_step_7')
    await refused()
    expect(existsSync(join(job, 'global_step_7', 'global_step_1', 'run_state.json'))).toBe(true)
  })

  it.each(['global_step_1/notes.txt', 'global_step_2/actor/huggingface/own.gguf'])(
    'is refused where a file in a checkpoint would be lost with it: %s',
    async (name) => {
      await work()
      const path = put(join(job, name))
      await expect(startOver(resolved())).rejects.toThrow(path)
      expect(existsSync(join(job, 'global_step_1', '.full_checkpoint'))).toBe(true)
    },
  )

  it('is refused without a mark, with the mark of another job, and with a mark that is a link', async () => {
    await work()
    renameSync(join(job, '.trinity'), join(dir, 'mark'))
    await expect(startOver(resolved())).rejects.toMatchObject({ hint: expect.stringContaining('by hand') })
    symlinkSync(join(dir, 'mark'), join(job, '.trinity'))
    await refused()
    rmSync(join(job, '.trinity'))
    await markJob(job, 'p/another')
    await expect(startOver(resolved())).rejects.toThrow("belongs to job 'p/another'")
    expect(existsSync(join(job, 'global_step_1', 'run_state.json'))).toBe(true)
  })

  it('is refused where a run was there before the job was marked', async () => {
    put(join(job, 'global_step_1', '.full_checkpoint'), '{"version":1,"step":1,"files":{}}')
    put(join(job, 'trainer_meta.json'), '{}')
    await markJob(job, 'p/job')
    await expect(startOver(resolved())).rejects.toThrow(/global_step_1: it was there before/)
    expect(existsSync(join(job, 'trainer_meta.json'))).toBe(true)
  })

  it("has nothing to do in a folder of the user's, and does not touch the runs in it", async () => {
    put(join(job, 'thesis.tex'))
    await work(join(job, 'inner'), 'p/job/inner')
    expect((await startOver(resolved())).places).toEqual([])
    expect(existsSync(join(job, 'inner', 'global_step_1', 'run_state.json'))).toBe(true)
    expect(existsSync(join(job, 'thesis.tex'))).toBe(true)
  })

  it('is refused where another job has its folder in the place of one of ours', async () => {
    await work()
    await work(join(job, 'log'), 'p/job/log')
    await refused()
    expect(existsSync(join(job, 'log', 'global_step_1'))).toBe(true)
  })
})

describe('links', () => {
  it('as the folder of the job, or on the way to it, are not followed', async () => {
    for (const link of [job, join(dir, 'p')]) {
      const elsewhere = join(dir, 'elsewhere')
      await work(link === job ? elsewhere : join(elsewhere, 'job'))
      mkdirSync(dirname(link), { recursive: true })
      symlinkSync(elsewhere, link)
      await expect(startOver(resolved())).rejects.toThrow('a link, which is not followed')
      expect(existsSync(join(job, 'global_step_1', 'run_state.json'))).toBe(true)
      rmSync(join(dir, 'p'), { recursive: true })
      rmSync(elsewhere, { recursive: true })
    }
  })

  it('inside stay, and so does what they lead to', async () => {
    await work()
    const target = put(join(dir, 'precious', 'data'))
    const links = ['link', 'log/all', 'monitor/tensorboard', 'log/run2.log'].map((name) => join(job, name))
    for (const link of links) symlinkSync(link.endsWith('.log') ? target : dirname(target), link)
    expect((await startOver(resolved())).kept.sort()).toEqual(links.sort())
    expect(readFileSync(target, 'utf8')).toBe('mine\n')
  })

  it.each(['buffer', 'log', 'global_step_7', 'best_eval.json'])(
    'in the place of %s: nothing is deleted',
    async (name) => {
      await work()
      const target = put(join(dir, 'precious', 'data'))
      rmSync(join(job, name), { recursive: true, force: true })
      symlinkSync(dirname(target), join(job, name))
      await expect(startOver(resolved())).rejects.toThrow('it is a link')
      expect(existsSync(target)).toBe(true)
      expect(existsSync(join(job, 'global_step_1', 'run_state.json'))).toBe(true)
    },
  )

  it('that a checkpoint lists go themselves', async () => {
    await markJob(job, 'p/job')
    const target = put(join(dir, 'precious', 'data'))
    const checkpoints = await Checkpoints.open({ dir: job, roles: ['trainer'] })
    const write = async (to: string) => {
      mkdirSync(to, { recursive: true })
      symlinkSync(target, join(to, 'model.safetensors'))
    }
    await checkpoints.save(1, { folders: { actor: write }, state: {} })
    await checkpoints.close()
    expect(lstatSync(join(job, 'global_step_1', 'actor', 'model.safetensors')).isSymbolicLink()).toBe(true)
    await startOver(resolved())
    expect([existsSync(job), existsSync(target)]).toEqual([false, true])
  })
})

describe('files outside the folder of the job', () => {
  it('go where they are of this job, and nothing else', async () => {
    await work()
    const [db, jsonl, other] = ['own.db', 'own.jsonl', 'other.db'].map((name) => join(dir, 'data', name))
    await database(db, 'p/job')
    await database(other, 'p/job')
    await markNewFile(job, 'p/job', jsonl)
    await (await openKeeper(jsonl, 'b', {})).close()
    const saved = `data_processor.experience_pipeline.input_save_path=${jsonl}`
    const run = resolved([...sql(db), saved])
    expect((await leftovers(run)).places.map(({ path }) => path)).toEqual([job, db, jsonl])
    await startOver(run)
    expect([job, db, jsonl, other].map((path) => existsSync(path))).toEqual([false, false, false, true])
  })

  it('of another job, or with tables of somebody else, stop everything', async () => {
    await work()
    const [foreign, shared] = ['foreign.db', 'shared.db'].map((name) => join(dir, name))
    await database(foreign, 'p/other')
    await database(shared, 'p/job')
    const db = await openDatabase(`sqlite:///${shared}`)
    await db.transaction((tx) => tx.query('CREATE TABLE customers (id INTEGER)'))
    await db.close()
    await expect(startOver(resolved(sql(foreign)))).rejects.toThrow("belongs to job 'p/other'")
    await expect(startOver(resolved(sql(shared)))).rejects.toThrow('customers')
    expect([job, foreign, shared].map((path) => existsSync(path))).toEqual([true, true, true])
  })

  it('of a job of the same name in another folder stop everything', async () => {
    const shared = join(dir, 'shared.db')
    const [here, there] = ['here', 'there'].map((root) =>
      resolved([...sql(shared), `checkpoint_root_dir=${join(dir, root)}`]),
    )
    for (const { stages } of [here, there]) await work(stages[0].config.checkpoint_job_dir)
    await claimFile(here.stages[0].config, `sqlite:///${shared}`)
    const [first, second] = [here, there].map(({ stages }) => stages[0].config.checkpoint_job_dir)
    await expect(startOver(there)).rejects.toThrow(`belongs to job 'p/job' in ${first}`)
    expect(existsSync(shared)).toBe(true)
    expect(existsSync(join(second, 'global_step_1', 'run_state.json'))).toBe(true)
    await startOver(here)
    expect(existsSync(shared)).toBe(false)
  })

  it.each(['folder', 'link', 'file', 'database'])('a %s without a sign of this job stays', async (kind) => {
    await work()
    const precious = put(join(dir, 'precious', 'data.jsonl'), '{"v":1}\n')
    const path = join(dir, 'out.jsonl')
    if (kind === 'folder') put(join(path, 'inside'))
    if (kind === 'link') symlinkSync(precious, path)
    if (kind === 'file') put(path, readFileSync(precious, 'utf8'))
    if (kind === 'database') {
      const db = await openDatabase(`sqlite:///${path}`)
      await db.transaction((tx) => tx.query('CREATE TABLE customers (id INTEGER)'))
      await db.close()
    }
    for (const set of [queue(path), [`data_processor.experience_pipeline.input_save_path=${path}`], sql(path)]) {
      await expect(startOver(resolved(set))).rejects.toThrow(path)
    }
    expect(existsSync(kind === 'folder' ? join(path, 'inside') : path)).toBe(true)
    expect(existsSync(precious)).toBe(true)
    expect(existsSync(join(job, 'global_step_1', 'run_state.json'))).toBe(true)
  })

  it('that were there before the job wrote to them stay', async () => {
    await work()
    const path = put(join(dir, 'mine.jsonl'), '{"v":1}\n')
    await markNewFile(job, 'p/job', path)
    await refused(queue(path))
    expect(existsSync(path)).toBe(true)
  })

  it('that a run only reads stay', async () => {
    const file = put(join(dir, 'sft.jsonl'), '{}\n')
    const keys = ['mode=train', 'algorithm.algorithm_type=sft', 'buffer.train_batch_size=1']
    const run = resolved([...keys, `buffer.trainer_input.experience_buffer={path: ${file}}`])
    expect((await leftovers(run)).places).toEqual([])
  })
})

describe('a run of stages', () => {
  it('takes the folders of its stages and nothing beside them', async () => {
    const stages = 'stages: [{stage_name: a}, {stage_name: b}]'
    await work(join(job, 'a'), 'p/job/a')
    await work(join(job, 'b'), 'p/job/b')
    await work(join(job, 'c'), 'p/job/c')
    await new StageMeta(resolved([], stages).stages).begin(0)
    await startOver(resolved([], stages))
    expect(readdirSync(job)).toEqual(['c'])
    rmSync(join(job, 'c'), { recursive: true })
    await work(join(job, 'a'), 'p/job/a')
    put(join(job, 'stage_meta.json'), '{"stages": ["a", "b"]}')
    expect((await startOver(resolved([], stages))).kept).toEqual([join(job, 'stage_meta.json')])
    expect(readdirSync(job)).toEqual(['stage_meta.json'])
  })
})

describe('a process at work', () => {
  it.each(['trainer', 'explorer', 'second_explorer'])('as %s is not disturbed', async (role) => {
    await markJob(job, 'p/job')
    const busy = await Checkpoints.open({ dir: job, roles: [role] })
    await expect(startOver(resolved())).rejects.toMatchObject({ code: 'checkpoint/in-use' })
    await busy.close()
    await startOver(resolved())
    expect(existsSync(job)).toBe(false)
  })
})
