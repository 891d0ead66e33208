import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { openDatabase } from '../../base/database/database.js'
import { createExperience } from '../../experience/create.js'
import type { RolloutResult } from '../../explorer/job.js'
import { describeRun, outputFile, RESULT_TABLE, writeExperiences } from './output.js'

const root = mkdtempSync(join(tmpdir(), 'trinity-output-'))
afterAll(() => rmSync(root, { recursive: true, force: true }))
let outputDir: string
let made = 0
beforeEach(() => {
  outputDir = join(root, String(made++))
})
const rows = async (file: string) => {
  const db = await openDatabase(`sqlite:///${file}`)
  const [{ n }] = await db.query(`SELECT count(*) AS n FROM ${RESULT_TABLE}`)
  await db.close()
  return Number(n)
}
const experience = (run: number) =>
  createExperience({
    eid: { batch: 'debug', task: 0, run, step: 0, suffix: '' },
    tokens: [1, 2, 3, 4, 5],
    promptLength: 2,
    actionMask: [1, 0, 1],
    reward: 0.5,
    promptText: 'What\nis it?',
    responseText: 'This.',
  })

describe('where results go', () => {
  it('never replaces a file that is something else', async () => {
    mkdirSync(outputDir)
    const thesis = join(outputDir, 'thesis.txt')
    writeFileSync(thesis, 'years of work')
    await expect(outputFile({ outputDir, outputFile: thesis })).rejects.toMatchObject({
      code: 'cli/debug',
      path: thesis,
    })
    const db = await openDatabase(`sqlite:///${join(outputDir, 'mail.db')}`)
    await db.query('CREATE TABLE mail (id INTEGER)')
    await db.close()
    await expect(outputFile({ outputDir, outputFile: join(outputDir, 'mail.db') })).rejects.toThrowError(
      /other tables: mail/,
    )
    expect(readFileSync(thesis, 'utf8')).toBe('years of work')
  })

  it('replaces what was there', async () => {
    const file = await outputFile({ outputDir })
    await writeExperiences(file, [experience(0), experience(1)])
    expect(await rows(file)).toBe(2)
    expect(await outputFile({ outputDir })).toBe(file)
    await writeExperiences(file, [experience(0)])
    expect(await rows(file)).toBe(1)
  })

  it('or keeps it, and takes a folder with the time in its name', async () => {
    const options = { outputDir, disableOverwrite: true }
    const now = new Date('2026-01-02T03:04:05Z')
    expect(await outputFile(options, now)).toBe(join(outputDir, 'experiences.db'))
    writeFileSync(join(outputDir, 'experiences.db'), 'kept')
    expect(await outputFile(options, now)).toBe(join(`${outputDir}_20260102030405`, 'experiences.db'))
  })

  it('a file that is named wins over the folder, and nothing else in its folder is touched', async () => {
    mkdirSync(outputDir)
    writeFileSync(join(outputDir, 'notes.txt'), 'mine')
    const file = join(outputDir, 'my.db')
    expect(await outputFile({ outputDir: '/elsewhere', outputFile: file, disableOverwrite: true })).toBe(file)
    await writeExperiences(file, [experience(0)])
    expect(await rows(file)).toBe(1)
  })
})

describe('a run as a person reads it', () => {
  const result = { experiences: [experience(0)], metrics: { score: 1 / 3 } } as unknown as RolloutResult

  it('says what was asked and answered, and what of it is learned', () => {
    const text = describeRun(result).join('\n')
    expect(text).toContain("reward 0.5, 2 prompt tokens, 3 response tokens, 2 of them the model's")
    expect(text).toContain('    What\n    is it?\n  response\n    This.')
    expect(text).toContain('score 0.333333')
  })

  it('says why it failed, and shows no experiences then', () => {
    const failure = { reason: 'timeout' as const, message: 'too slow' }
    const text = describeRun({ ...result, failure } as RolloutResult).join('\n')
    expect(text).toContain('failed: timeout: too slow')
    expect(text).not.toContain('prompt tokens')
  })
})
