import { readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { tempDir } from '../../test/trainer/kit.js'
import { peekBestEval, readBestEval, recordEval, rewindEvals } from './best-eval.js'

const metrics = { 'eval/a/accuracy/mean@1': 0.5 }

it('reads what it has written', async () => {
  const dir = await tempDir()
  const made = await recordEval(dir, 2, metrics)
  expect(await readBestEval(dir)).toEqual(made)
})

it('compares evaluations with and without detailed statistics', async () => {
  const dir = await tempDir()
  const detailed = (mean: number) => ({
    'eval/a/accuracy/mean@2/mean': mean,
    'eval/a/accuracy/mean@2/max': 1,
    'eval/a/accuracy/std@2/mean': 0.9,
  })
  await recordEval(dir, 0, detailed(0.25))
  await recordEval(dir, 2, { 'eval/a/accuracy/mean@2': 0.75 })
  const { best, last } = await recordEval(dir, 4, detailed(0.5))
  expect(last).toMatchObject({ score: 0.5, metric: 'eval/a/accuracy/mean@2/mean' })
  expect(best).toMatchObject({ step: 2, score: 0.75 })
})

describe.each([
  '{}',
  '{"history": []}',
  '{"history": [1]}',
  '{"first": null, "history": [{"step": "1"}]}',
  '[]',
  'junk',
  '',
  '\0\0\0',
])('a damaged file: %j', (text) => {
  let dir: string
  let path: string
  beforeEach(async () => {
    dir = await tempDir()
    path = join(dir, 'best_eval.json')
    await writeFile(path, text)
  })

  it.each<[string, (warn: (text: string) => void) => Promise<unknown>]>([
    ['the next evaluation', (warn) => recordEval(dir, 1, metrics, undefined, warn)],
    ['a run that resumes', (warn) => rewindEvals(dir, 1, warn)],
  ])('is kept under another name by %s', async (_, act) => {
    const warnings: string[] = []
    await act((warning) => warnings.push(warning))
    const [aside] = (await readdir(dir)).filter((name) => name.includes('.damaged-'))
    expect(await readFile(join(dir, aside), 'utf8')).toBe(text)
    expect(warnings).toEqual([expect.stringContaining(join(dir, aside))])
    const made = await recordEval(dir, 2, metrics)
    expect(await readBestEval(dir)).toEqual(made)
  })

  it('is left alone by those that only look', async () => {
    const warnings: string[] = []
    expect(await peekBestEval(dir, (warning) => warnings.push(warning))).toBeUndefined()
    expect(warnings).toEqual([expect.stringContaining(path)])
    await expect(readBestEval(dir)).rejects.toMatchObject({ name: 'TrinityError', path })
    expect(await readdir(dir)).toEqual(['best_eval.json'])
  })
})
