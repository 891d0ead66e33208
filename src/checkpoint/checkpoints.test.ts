import { appendFile, mkdir, readdir, readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../test/trainer/kit.js'
import { Checkpoints, type CheckpointsOptions } from './checkpoints.js'
import { markJob } from './job-mark.js'

let dir: string
beforeEach(async () => {
  dir = join(await tempDir(), 'project', 'name')
})

const open = (options: Partial<CheckpointsOptions> = {}) => Checkpoints.open({ dir, ...options })
const folder = (content: string) => async (path: string) => {
  await mkdir(path, { recursive: true })
  await writeFile(join(path, 'weights.bin'), content)
}
const parts = (step: number, size = 10) => ({
  folders: {
    actor: (path: string) => folder(`weights ${step} `.repeat(size))(join(path, 'huggingface')),
    critic: folder('c'),
  },
  state: { step, buffer: { cut: step } },
  meta: { trainer: { latest_iteration: step }, explorer: { latest_iteration: step + 1 } },
})
/** Writes the list of a checkpoint again, without some files. */
async function relist(path: string, stays: (name: string) => boolean): Promise<void> {
  const list = JSON.parse(await readFile(join(path, '.full_checkpoint'), 'utf8'))
  const files = Object.fromEntries(Object.entries(list.files).filter(([name]) => stays(name)))
  await writeFile(join(path, '.full_checkpoint'), JSON.stringify({ ...list, files }))
}
const text = (name: string) => readFile(join(dir, name), 'utf8')
const steps = async () =>
  (await readdir(dir))
    .filter((name) => name.startsWith('global_step_'))
    .map((name) => Number(name.slice(12)))
    .sort((a, b) => a - b)

describe('a full checkpoint', () => {
  it('has the layout of a job directory, and gives back what was saved', async () => {
    const checkpoints = await open()
    expect(await checkpoints.latest()).toBeUndefined()
    await mkdir(dir, { recursive: true })
    expect(await checkpoints.save(7, parts(7))).toBe(true)
    expect((await readdir(dir)).sort()).toEqual([
      'explorer_meta.json',
      'global_step_7',
      'latest_checkpointed_iteration.txt',
      'latest_state_dict_iteration.txt',
      'trainer_meta.json',
    ])
    expect((await readdir(join(dir, 'global_step_7'))).sort()).toEqual([
      '.full_checkpoint',
      'actor',
      'critic',
      'run_state.json',
    ])
    expect([await text('latest_checkpointed_iteration.txt'), await text('latest_state_dict_iteration.txt')]).toEqual([
      '7\n',
      '7\n',
    ])
    const latest = await (await open()).latest()
    expect(latest).toMatchObject({ step: 7, state: { step: 7, buffer: { cut: 7 } } })
    expect(latest!.folder('critic')).toBe(join(dir, 'global_step_7', 'critic'))
    expect(latest!.folder('sampler')).toBeUndefined()
    expect(await checkpoints.readMeta('explorer')).toEqual({ latest_iteration: 8 })
  })

  it('is not written twice in a row, but replaced by another process that has gone back', async () => {
    const checkpoints = await open()
    await checkpoints.save(1, parts(1))
    await checkpoints.save(2, parts(2))
    expect(await checkpoints.save(2, parts(99))).toBe(false)
    const other = await open()
    expect(await other.save(2, { ...parts(2), state: { step: 2, again: true } })).toBe(true)
    expect((await (await open()).latest())?.state).toEqual({ step: 2, again: true })
  })

  it('is named as the latest by the run that resumes from it, when the one before died in between', async () => {
    const names = ['latest_checkpointed_iteration.txt', 'latest_state_dict_iteration.txt']
    const pointers = () => Promise.all(names.map(text))
    const checkpoints = await open()
    await checkpoints.save(1, parts(1))
    // The process died behind the rename: meta files and pointers are those of the step before.
    const before = await Promise.all([...names, 'trainer_meta.json'].map(async (name) => [name, await text(name)]))
    await checkpoints.save(2, parts(2))
    for (const [name, content] of before) await writeFile(join(dir, name), content)

    const resumed = await open({ roles: ['trainer'] })
    expect((await resumed.latest())?.step).toBe(2)
    await resumed.discardAfter(2)
    expect(await pointers()).toEqual(['2\n', '2\n'])
    expect(await resumed.save(2, parts(2))).toBe(false)
    expect(await resumed.readMeta('trainer')).toEqual({ latest_iteration: 2 })
    await resumed.close()
  })

  it('is no longer named once the run goes back behind it', async () => {
    const checkpoints = await open()
    await checkpoints.save(1, parts(1))
    await checkpoints.save(2, parts(2))
    await relist(join(dir, 'global_step_2'), () => false)
    const resumed = await open({ roles: ['trainer'] })
    expect((await resumed.latest())?.step).toBe(1)
    await resumed.discardAfter(1)
    expect(await text('latest_checkpointed_iteration.txt')).toBe('1\n')
    expect(await text('latest_state_dict_iteration.txt')).toBe('1\n')
    await resumed.close()
  })

  it('that fails half-way leaves nothing, and the one before counts', async () => {
    const checkpoints = await open()
    await checkpoints.save(1, parts(1))
    const broken = {
      ...parts(2),
      folders: { actor: folder('x'), critic: async () => Promise.reject(new Error('disk full')) },
    }
    await expect(checkpoints.save(2, broken)).rejects.toThrow('disk full')
    expect(await steps()).toEqual([1])
    expect((await (await open()).latest())?.step).toBe(1)
  })

  const harms: [string, (path: string) => Promise<void>, string][] = [
    ['a file is cut', (path) => writeFile(join(path, 'actor/huggingface/weights.bin'), 'x'), 'bytes instead of'],
    ['a byte has changed', (path) => writeFile(join(path, 'critic/weights.bin'), 'd'), 'has changed'],
    ['a file is missing', (path) => rm(join(path, 'run_state.json')), 'run_state.json is missing'],
    ['the list is missing', (path) => rm(join(path, '.full_checkpoint')), '.full_checkpoint is missing'],
    ['the list is no JSON', (path) => appendFile(join(path, '.full_checkpoint'), '}'), 'cannot be read'],
    [
      'the list names a step that is no number',
      (path) => writeFile(join(path, '.full_checkpoint'), JSON.stringify({ version: 2, step: [[2]], files: {} })),
      'not a list of files',
    ],
    ['it has moved', (path) => rename(path, `${path}.bak`), '.full_checkpoint is missing'],
    ['the list is empty', (path) => relist(path, () => false), 'does not name run_state.json'],
    ['the list lacks the state', (path) => relist(path, (name) => name !== 'run_state.json'), 'run_state.json'],
    ['the list lacks the actor', (path) => relist(path, (name) => !name.startsWith('actor/')), 'no file of the actor'],
    [
      'weights are there that it does not list',
      (path) => writeFile(join(path, 'actor/huggingface/model.safetensors'), ''),
      'not in its list',
    ],
  ]
  it.each(harms)('is passed over with a warning when %s', async (_, harm, warning) => {
    const checkpoints = await open()
    for (const step of [1, 2]) await checkpoints.save(step, parts(step))
    await harm(join(dir, 'global_step_2'))
    const warnings: string[] = []
    const again = await open({ warn: (line) => warnings.push(line) })
    expect((await again.latest())?.step).toBe(1)
    expect(warnings).toEqual([expect.stringContaining(warning)])
    expect(await again.save(2, parts(2))).toBe(true)
    expect((await (await open()).latest())?.step).toBe(2)
  })

  it('counts though the file that names the newest says an older one, and one is told', async () => {
    const checkpoints = await open()
    for (const step of [2, 12]) await checkpoints.save(step, parts(step))
    await writeFile(join(dir, 'latest_checkpointed_iteration.txt'), '02\n')
    const warnings: string[] = []
    const again = await open({ warn: (line) => warnings.push(line) })
    for (let i = 0; i < 2; i++) expect((await again.latest())?.step).toBe(12)
    expect(warnings).toEqual([expect.stringMatching(/names step 2, but the checkpoint of step 12 is complete/)])
  })

  it('that is damaged is kept when a run goes back behind it', async () => {
    const checkpoints = await open()
    for (const step of [1, 2, 3]) await checkpoints.save(step, parts(step))
    await writeFile(join(dir, 'global_step_2/critic/weights.bin'), 'd')
    await appendFile(join(dir, 'global_step_3/.full_checkpoint'), '}')
    const warnings: string[] = []
    const again = await open({ roles: ['trainer'], warn: (line) => warnings.push(line) })
    expect((await again.latest())?.step).toBe(1)
    await again.discardAfter(1)
    const kept = (await readdir(dir)).filter((name) => name.startsWith('global_step_')).sort()
    expect(kept).toEqual(['global_step_1', expect.stringMatching(/^global_step_2\.damaged-[0-9a-f]{8}$/), kept[2]])
    expect(kept[2]).toMatch(/^global_step_3\.damaged-/)
    expect(await text(`${kept[1]}/actor/huggingface/weights.bin`)).toContain('weights 2')
    for (const name of kept.slice(1)) expect(warnings.join('\n')).toContain(name)
    for (const step of [2, 3]) await again.save(step, parts(step))
    expect((await (await open()).latest())?.step).toBe(3)
    await again.close()
    expect(await readdir(dir)).toEqual(expect.arrayContaining(kept))
  })

  it('a change deep inside a large file is found', async () => {
    const checkpoints = await open()
    await checkpoints.save(1, parts(1, 200_000))
    const path = join(dir, 'global_step_1/actor/huggingface/weights.bin')
    const bytes = await readFile(path)
    bytes[1_234_567] ^= 1
    await writeFile(path, bytes)
    await expect((await open()).latest()).rejects.toThrowError(expect.objectContaining({ code: 'checkpoint/damaged' }))
  })

  it('when all are gone the run begins anew, when all are damaged it refuses to', async () => {
    const checkpoints = await open()
    await checkpoints.save(1, parts(1))
    await rm(join(dir, 'global_step_1'), { recursive: true })
    expect(await (await open()).latest()).toBeUndefined()
  })
})

describe('retention', () => {
  it('counts what is on disk, and spares the newest and the best', async () => {
    for (const step of [1, 2, 3]) await (await open({ keep: 2 })).save(step, parts(step))
    expect(await steps()).toEqual([2, 3])
    const checkpoints = await open({ keep: 2 })
    await checkpoints.recordEval(2, { 'eval/a/accuracy': 0.9 })
    for (const step of [4, 5, 6]) {
      await checkpoints.save(step, parts(step))
      await checkpoints.recordEval(step, { 'eval/a/accuracy': 0.5 })
    }
    expect(await steps()).toEqual([2, 5, 6])
  })

  it('keeps all when it is 0', async () => {
    const checkpoints = await open({ keep: 0 })
    for (const step of [1, 2, 3]) await checkpoints.save(step, parts(step))
    expect(await steps()).toEqual([1, 2, 3])
  })

  it('weights for a transfer: the last two stay, a full checkpoint takes their place', async () => {
    const checkpoints = await open()
    for (const step of [1, 2, 3]) await checkpoints.saveWeights(step, folder(`w${step}`))
    expect(await steps()).toEqual([2, 3])
    expect(await checkpoints.latestWeights()).toEqual({
      step: 3,
      path: join(dir, 'global_step_3/actor/huggingface'),
      full: false,
    })
    expect(await checkpoints.latest()).toBeUndefined()
    await checkpoints.save(3, parts(3))
    expect(await checkpoints.latestWeights()).toMatchObject({ step: 3, full: true })
    await checkpoints.saveWeights(4, folder('w4'))
    expect((await checkpoints.latest())?.step).toBe(3)
    expect(await checkpoints.latestWeights()).toMatchObject({ step: 4, full: false })
    expect((await checkpoints.all()).map(({ step }) => step)).toEqual([3])
  })
})

it('what a killed process left is cleaned up by the next trainer, not by one who looks', async () => {
  const checkpoints = await open()
  await checkpoints.save(1, parts(1))
  await mkdir(join(dir, 'global_step_2.tmp-1-aaaaaaaa/actor'), { recursive: true })
  await rename(join(dir, 'global_step_1'), join(dir, 'global_step_1.old-1-bbbbbbbb'))
  await (await open()).close()
  expect(await readdir(dir)).toContain('global_step_2.tmp-1-aaaaaaaa')
  const trainer = await open({ roles: ['trainer'] })
  expect(await steps()).toEqual([1])
  expect((await trainer.latest())?.step).toBe(1)
  await trainer.close()
})

describe('weights', () => {
  const flip = (step: number) => writeFile(join(dir, `global_step_${step}/actor/huggingface/weights.bin`), 'wX')

  it('that are damaged are passed over with one warning, alone and in a checkpoint', async () => {
    const checkpoints = await open()
    await checkpoints.save(1, parts(1))
    for (const step of [2, 3]) await checkpoints.saveWeights(step, folder(`w${step}`))
    const warnings: string[] = []
    const reader = await open({ warn: (line) => warnings.push(line) })
    expect((await reader.latestWeights())?.step).toBe(3)
    await flip(3)
    for (let i = 0; i < 2; i++) expect((await reader.latestWeights())?.step).toBe(2)
    expect(warnings).toEqual([expect.stringMatching(/global_step_3 cannot be used \(the content of .* has changed/)])
    await rm(join(dir, 'global_step_2/.written.json'))
    expect((await reader.latestWeights())?.step).toBe(1)
    await flip(1)
    await expect(reader.latestWeights()).rejects.toMatchObject({ code: 'checkpoint/damaged' })
    expect((await reader.newestWeights())?.step).toBe(3)
  })

  it('of an earlier release, without hashes, have all their files', async () => {
    const checkpoints = await open()
    await checkpoints.saveWeights(1, folder('w1'))
    const files = ['actor/huggingface/weights.bin', 'actor/huggingface/more.bin']
    await writeFile(join(dir, 'global_step_1/.written.json'), JSON.stringify({ files: files.slice(0, 1) }))
    expect((await checkpoints.latestWeights())?.step).toBe(1)
    await writeFile(join(dir, 'global_step_1/.written.json'), JSON.stringify({ files }))
    await expect(checkpoints.latestWeights()).rejects.toMatchObject({ code: 'checkpoint/damaged' })
  })
})

describe("somebody else's folders", () => {
  const put = async (name: string, content = 'mine') => {
    await mkdir(join(dir, name, '..'), { recursive: true })
    await writeFile(join(dir, name), content)
  }
  const untouched = async (names: string[]) => {
    for (const name of names) expect(await text(name)).toBe('mine')
  }

  it('are not cleaned up, though their names begin as ours do', async () => {
    const mine = ['global_step_1.tmp-notes/x', 'global_step_2.old-backup/x', 'global_step_3.tmp-1-abc/x']
    for (const name of mine) await put(name)
    await put('global_step_4.tmp-7-0123abcd/.trinity/job.json')
    await (await open({ roles: ['trainer'] })).close()
    await untouched([...mine, 'global_step_4.tmp-7-0123abcd/.trinity/job.json'])
  })

  it('are neither pruned nor discarded, and set aside where a checkpoint takes their place', async () => {
    const mine = ['global_step_1/x', 'global_step_2/x', 'global_step_3/x', 'global_step_9/x']
    for (const name of mine) await put(name)
    await put('global_step_20/.trinity/job.json', '{}')
    await put('global_step_20/.full_checkpoint', '{"version":2,"step":20,"files":{}}')
    const warnings: string[] = []
    const checkpoints = await open({ roles: ['trainer'], keep: 1, warn: (line) => warnings.push(line) })
    await checkpoints.discardAfter(0)
    for (const step of [4, 5, 6]) await checkpoints.saveWeights(step, folder('w'))
    for (const step of [7, 8]) await checkpoints.save(step, parts(step))
    await untouched(mine)
    expect(await readdir(join(dir, 'global_step_20'))).toContain('.trinity')
    await checkpoints.save(9, parts(9))
    const aside = (await readdir(dir)).find((name) => name.startsWith('global_step_9.aside-'))
    await untouched([`${aside}/x`])
    expect(warnings).toEqual([expect.stringContaining(String(aside))])
    await checkpoints.close()
  })

  it('that were there before the job stay, even checkpoints', async () => {
    const before = await open()
    for (const step of [1, 2, 3]) await before.save(step, parts(step))
    await markJob(dir, 'p/n')
    const checkpoints = await open({ roles: ['trainer'], keep: 1 })
    expect((await checkpoints.latest())?.step).toBe(3)
    for (const step of [4, 5, 6]) await checkpoints.save(step, parts(step))
    await checkpoints.discardAfter(0)
    expect(await steps()).toEqual([1, 2, 3])
    await checkpoints.close()
  })
})

describe('a job directory', () => {
  const identity = { 'algorithm.algorithm_type': 'grpo', 'model.model_path': 'm' }

  it('belongs to one algorithm and model once it has checkpoints', async () => {
    await (await open({ identity, roles: ['trainer'] })).close()
    const other = { ...identity, 'algorithm.algorithm_type': 'ppo' }
    const checkpoints = await open({ identity: other, roles: ['trainer'] })
    await checkpoints.save(1, parts(1))
    await checkpoints.close()
    await expect(open({ identity, roles: ['trainer'] })).rejects.toThrowError(
      expect.objectContaining({
        code: 'checkpoint/other-job',
        message: expect.stringContaining('ppo'),
        hint: expect.stringContaining('--fresh'),
      }),
    )
    await (await open({ identity: other, roles: ['trainer'] })).close()
  })
})

describe('evaluations', () => {
  it('keep the first, the best and the last', async () => {
    const checkpoints = await open({ roles: ['explorer'] })
    expect(await checkpoints.bestEval()).toBeUndefined()
    for (const [step, score] of [
      [0, 0.2],
      [5, 0.7],
      [10, 0.7],
      [15, 0.4],
    ]) {
      await checkpoints.recordEval(step, {
        'eval/gsm8k/accuracy/mean@4': score,
        'eval/gsm8k/accuracy/best@4': 1,
        'time/eval': 3,
      })
    }
    expect(await checkpoints.bestEval()).toMatchObject({
      first: { step: 0, score: 0.2 },
      best: { step: 5, score: 0.7, metric: 'eval/gsm8k/accuracy/mean@4' },
      last: { step: 15, score: 0.4 },
    })
    // A resumed run makes step 5 again.
    await checkpoints.recordEval(5, { 'eval/gsm8k/accuracy/mean@4': 0.6 })
    expect((await checkpoints.bestEval())?.best).toMatchObject({ step: 10, score: 0.7 })
    expect((await checkpoints.bestEval())?.history.map(({ score }) => score)).toEqual([0.2, 0.6, 0.7, 0.4])
    await checkpoints.close()
  })

  it('what comes after the checkpoint that a run resumes from is void', async () => {
    const checkpoints = await open({ roles: ['trainer'] })
    for (const step of [1, 2, 3]) {
      await checkpoints.save(step, parts(step))
      await checkpoints.recordEval(step, { 'eval/a/accuracy': step / 10 })
    }
    await checkpoints.saveWeights(4, folder('w'))
    await checkpoints.discardAfter(2)
    expect(await steps()).toEqual([1, 2])
    expect(await text('latest_state_dict_iteration.txt')).toBe('2\n')
    expect(await checkpoints.bestEval()).toMatchObject({
      best: { step: 2, score: 0.2 },
      history: [{ step: 1 }, { step: 2 }],
    })
    await checkpoints.discardAfter(0)
    expect(await checkpoints.bestEval()).toBeUndefined()
    await checkpoints.close()
  })

  it('keeps evaluations of discarded steps that another process owns', async () => {
    const checkpoints = await open({ roles: ['trainer'] })
    for (const step of [1, 2]) await checkpoints.save(step, parts(step))
    for (const step of [1, 2]) await checkpoints.recordEval(step, { 'eval/a/accuracy': step / 10 })
    await checkpoints.discardAfter(1, { keepEvals: true })
    expect(await steps()).toEqual([1])
    expect(await checkpoints.bestEval()).toMatchObject({ best: { step: 2 }, history: [{ step: 1 }, { step: 2 }] })
    await checkpoints.close()
  })

  it('several sets count with their mean; a named metric decides alone', async () => {
    const checkpoints = await open({ roles: ['explorer'] })
    const metrics = { 'eval/a/reward': 1, 'eval/b/reward': 0, 'eval/b/length': 7 }
    expect((await checkpoints.recordEval(1, metrics)).best.score).toBe(0.5)
    expect((await checkpoints.recordEval(2, metrics, 'eval/b/length')).best).toMatchObject({ score: 7, step: 2 })
    await expect(checkpoints.recordEval(3, { 'eval/a/length': 1 })).rejects.toThrow('no accuracy, score or reward')
    await checkpoints.close()
  })
})

describe.each(['', '{"a": 1', '[]', '\0\0'])('damaged small files: %j', (content) => {
  it('do not end a run, and are kept under another name', async () => {
    const first = await open({ roles: ['trainer'], identity: { model: 'a' } })
    await first.save(1, parts(1))
    await first.recordEval(1, { accuracy: 0.5 })
    await first.close()
    const names = ['best_eval.json', 'job.json', 'trainer_meta.json']
    for (const name of names) await writeFile(join(dir, name), content)

    const warnings: string[] = []
    const options = {
      roles: ['trainer'],
      identity: { model: 'a' },
      keep: 1,
      warn: (line: string) => warnings.push(line),
    }
    const looking = await open({ warn: options.warn })
    expect([await looking.readMeta('trainer'), await looking.bestEval()]).toEqual([undefined, undefined])
    expect((await readdir(dir)).filter((name) => name.includes('.damaged-'))).toEqual([])
    const again = await open(options)
    expect(await again.readMeta('trainer')).toBeUndefined()
    await again.discardAfter(1)
    await again.save(2, parts(2))
    await again.recordEval(2, { accuracy: 0.25 })
    expect(await again.bestEval()).toMatchObject({ best: { step: 2 } })
    expect(await again.readMeta('trainer')).toEqual({ latest_iteration: 2 })
    await again.close()
    const aside = (await readdir(dir)).filter((name) => name.includes('.damaged-'))
    expect(aside.map((name) => name.replace(/\.damaged-.*/, '')).sort()).toEqual(names)
    for (const name of aside) expect(warnings.join('\n')).toContain(name)
    await (await open({ ...options, warn: (line) => expect.fail(line) })).close()
  })
})
