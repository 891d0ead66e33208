import { AnswerReader } from '../../src/dialect/answer-reader.js'
import { parseToolCalls } from '../../src/dialect/tool-calls.js'
import { answerIn, callIn, readCall } from '../../src/environment/email/tools.js'
import { readTags } from '../../src/environment/math/tags.js'
import { actionField, lastFence, lastNamed, lastTag } from '../../src/environment/reply.js'
import { ActionNames } from '../../src/environment/small-world.js'
import { readAction } from '../../src/environment/webshop/action.js'
import {
  countdownFault,
  countdownPuzzle,
  extractAnswer,
  gradeMath,
  parseRlcr,
  prepareReward,
  rewardFns,
  toolCallReward,
} from '../../src/reward/index.js'
import { lastJson, scoresIn } from '../../src/workflow/builtin/verdict.js'
import { readReport } from '../../src/workflow/r3l/report.js'

const PUZZLE = countdownPuzzle({ target: 10, numbers: [3, 7] })
const NAMES = new ActionNames(['up', 'down', 'left', 'right'])
const CLICKS = { hasSearchBar: true, clickables: ['buy now', 'a [b]'] }

/** Reward functions that score a response with a truth. */
export const REWARDS = [
  'math_reward',
  'math_boxed_reward',
  'math_dapo_reward',
  'accuracy_reward',
  'rlcr_reward',
] as const

/** Parsers of text that a model wrote. Each must end without an exception; some return a violation in words. */
export const ANSWER_READERS: Readonly<Record<string, (text: string) => unknown>> = {
  ...Object.fromEntries(
    (['boxed', 'answer_tag', 'last_answer_tag', 'gsm8k', 'final'] as const).map((mode) => [
      `extractAnswer ${mode}`,
      (text: string) => void extractAnswer(text, mode),
    ]),
  ),
  gradeMath: (text) => (gradeMath(text, '5') !== gradeMath('5', text) ? 'is not symmetric' : undefined),
  'gradeMath with itself': (text) => void gradeMath(text, text),
  countdownFault: (text) => void countdownFault(text, PUZZLE),
  toolCallReward: (text) =>
    void toolCallReward(`<think>a</think><tool_call>${text}</tool_call>`, '{"name": "f", "arguments": {}}'),
  parseRlcr: (text) => {
    const parsed = parseRlcr(text)
    return 'confidence' in parsed && !(parsed.confidence >= 0 && parsed.confidence <= 1)
      ? 'confidence out of range'
      : undefined
  },
  readReport: (text) => {
    const verdict = readReport(text, 3)
    const isOutside =
      'pivot' in verdict && !(Number.isInteger(verdict.pivot) && verdict.pivot >= 0 && verdict.pivot < 3)
    return isOutside ? 'a step that does not exist' : undefined
  },
  parseToolCalls: (text) => {
    const { calls } = parseToolCalls(text, String)
    return calls.every(({ function: { name } }) => typeof name === 'string') ? undefined : 'a call without a name'
  },
  'AnswerReader piecewise': (text) => {
    const reader = new AnswerReader({ tools: true, reasoning: true, callId: (_, call) => String(call) }, 0)
    // Long texts come in pieces of a token's size, as from a sampler.
    for (let at = 0; at < text.length; at += 7) reader.push(text.slice(at, at + 7))
    reader.end()
  },
  readTags: (text) => void readTags(text),
  'replies of environments': (text) => {
    const said = [lastFence(text), actionField(text), lastTag(text, 'action'), lastNamed(text, NAMES.words)]
    for (const one of said) if (one !== undefined) NAMES.numberOf(one)
    const number = NAMES.numberOf(text)
    return number === undefined || NAMES.names[number] !== undefined ? undefined : 'an action that does not exist'
  },
  'webshop action': (text) => {
    const action = readAction(text, CLICKS)
    return action.kind === 'click' && !CLICKS.clickables.includes(action.name)
      ? 'a button that does not exist'
      : undefined
  },
  'email call': (text) => {
    readCall(text, { inbox: 'a@b.c', date: '2001-01-01' })
    answerIn(callIn(text))
  },
  verdict: (text) => {
    lastJson(text, '{')
    const scores = scoresIn(text, 1)
    return scores?.every((score) => score >= 0 && score <= 1) === false ? 'a score out of range' : undefined
  },
}

const scorers = REWARDS.map((name) => [name, prepareReward(name)] as const)

/** Names of the reward functions that take a response for right. */
export async function acceptedBy(response: string, truth: string): Promise<string[]> {
  const accepted: string[] = []
  for (const [name, score] of scorers)
    if (((await score({ response, truth })).parts.accuracy ?? 0) > 0) accepted.push(name)
  return accepted
}

/** Truths of functions that compare with something else than text. */
const TRUTHS: Readonly<Record<string, unknown>> = { countdown_reward: { target: 10, numbers: [3, 7] } }
const everyScorer = rewardFns.names().map((name) => [name, prepareReward(name)] as const)

/** Scores a response with every registered reward function. Throws if one throws or returns a number that is not finite. */
export async function scoreAll(response: string, truth: string): Promise<void> {
  for (const [name, score] of everyScorer) await score({ response, truth: TRUTHS[name] ?? truth, responseTokens: [1] })
}
