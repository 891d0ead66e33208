import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countdownFault, countdownPuzzle, toolCallReward } from '../../src/reward/index.js'
import {
  anyAnswer,
  longAnswer,
  type WrongAnswer,
  wrongCalls,
  wrongChoice,
  wrongEquation,
  wrongNumber,
  wrongStructure,
} from './answers.js'
import { DATA_READERS } from './data-readers.js'
import { JOB_READERS } from './job-readers.js'
import { MODEL_READERS } from './model-readers.js'
import { ANSWER_READERS, acceptedBy, scoreAll } from './read-answers.js'
import { fuzzRequests } from './requests.js'
import { type FileReader, fuzzFiles } from './run-files.js'
import { type OpenTarget, serveTarget, studioTarget } from './targets.js'
import { WORLD_READERS } from './world-readers.js'

const TIMEOUT_MS = 3_600_000
/** CPU time of one parser for one text of 40,000 characters, in ms. A linear reader needs a fraction of it. */
const SLOW_MS = 2000
const MOST_SHOWN = 40

/** All readers of user files. */
const FILE_READERS: readonly FileReader[] = [...DATA_READERS, ...MODEL_READERS, ...JOB_READERS, ...WORLD_READERS]

/** Number of cases of a reader in a run of `total` cases over all readers. */
function casesOf(reader: FileReader, total: number): number {
  const weights = FILE_READERS.reduce((sum, { weight = 1 }) => sum + weight, 0)
  return Math.max(1, Math.round((total * (reader.weight ?? 1)) / weights))
}

/** Registers the tests of damaged files: `total` cases over all readers. */
export function fileSuite(total: number, seed: number): void {
  it.each(FILE_READERS.map((reader) => [reader.name, reader] as const))(
    'reads or refuses damaged files: %s',
    async (_, reader) => {
      const { faults } = await fuzzFiles(reader, casesOf(reader, total), seed)
      expect(faults.slice(0, MOST_SHOWN)).toEqual([])
    },
    TIMEOUT_MS,
  )
}

/** Registers the tests of hostile requests: `count` at each server. */
export function requestSuite(count: number, seed: number): void {
  it.each<[string, () => Promise<OpenTarget>]>([
    ['trinity serve', serveTarget],
    ['Studio', studioTarget],
  ])(
    'refuses hostile requests in the shape of its API, and keeps answering: %s',
    async (_, open) => {
      const { target, leftovers, close } = await open()
      try {
        const { faults, statuses } = await fuzzRequests(target, count, seed)
        expect(faults.slice(0, MOST_SHOWN)).toEqual([])
        // Some requests are good, so that the others are known to reach what they attack.
        expect(statuses.get(200)).toBeGreaterThan(0)
        expect(statuses.get(400)).toBeGreaterThan(0)
        await expect.poll(leftovers).toEqual([])
      } finally {
        await close()
      }
    },
    TIMEOUT_MS,
  )
}

/** Registers the tests of graders and of parsers of answers: `numRuns` cases of each property. */
export function answerSuite(numRuns: number, seed: number): void {
  describe('a reward function', () => {
    it.each<[string, fc.Arbitrary<WrongAnswer>]>([
      ['numbers', wrongNumber],
      ['letters', wrongChoice],
      ['structures', wrongStructure],
    ])(
      'gives nothing for answers that are wrong by construction: %s',
      async (_, answers) => {
        const property = fc.asyncProperty(answers, async ({ response, truth }) => {
          expect(await acceptedBy(response, truth)).toEqual([])
        })
        await fc.assert(property, { numRuns, seed })
      },
      TIMEOUT_MS,
    )

    it(
      'accepts no wrong equation of a CountDown puzzle',
      () => {
        const property = fc.property(wrongEquation, ({ equation, target, numbers }) => {
          expect(countdownFault(equation, countdownPuzzle({ target, numbers }))).toBeDefined()
        })
        fc.assert(property, { numRuns, seed })
      },
      TIMEOUT_MS,
    )

    it(
      'accepts no tool call that differs from the expected one',
      () => {
        const property = fc.property(wrongCalls, fc.boolean(), ({ made, expected }, isSwapped) => {
          const [said, wanted] = isSwapped ? [expected, made] : [made, expected]
          expect(toolCallReward(`<think>x</think><tool_call>${said}</tool_call>`, wanted)).toBe(0)
        })
        fc.assert(property, { numRuns, seed })
      },
      TIMEOUT_MS,
    )
  })

  describe.each(Object.entries(ANSWER_READERS))('%s', (_, read) => {
    it(
      'reads any text',
      () => {
        const property = fc.property(anyAnswer, (text) => {
          expect(read(text)).toBeUndefined()
        })
        fc.assert(property, { numRuns, seed })
      },
      TIMEOUT_MS,
    )

    it(
      'reads long repetitions and nesting in bounded time',
      () => {
        const property = fc.property(longAnswer, (text) => {
          const begun = process.cpuUsage()
          expect(read(text)).toBeUndefined()
          const { user, system } = process.cpuUsage(begun)
          expect((user + system) / 1000).toBeLessThan(SLOW_MS)
        })
        fc.assert(property, { numRuns: Math.ceil(numRuns / 10), seed })
      },
      TIMEOUT_MS,
    )
  })

  it(
    'scores any text with a finite reward',
    async () => {
      const property = fc.asyncProperty(anyAnswer, anyAnswer, (response, truth) => scoreAll(response, truth))
      await fc.assert(property, { numRuns, seed })
    },
    TIMEOUT_MS,
  )
}
