import * as vitest from 'vitest'
import { describeEnvironment } from '../../testing/environment.js'
import { openEnvironment } from '../index.js'

const problems = [
  { question: 'What is 2 + 3?', answer: '5' },
  { question: 'What is 2 * 3?', answer: '6' },
].map((row) => ({ row, seed: 0 }))

for (const world of ['dapo_math', 'qwen_math']) {
  describeEnvironment(vitest, world, {
    open: () => openEnvironment(world),
    episodes: problems,
    actions: ['7', '5.0', '\\frac{12}{2}', 'x'],
    ending: { episode: problems[0], actions: ['4', '10/2'] },
    refused: ({ won }) => !won,
  })
}

const puzzles = [
  { nums: [44, 19, 35], target: 98 },
  { nums: [3, 3, 8, 8], target: 24 },
].map((row) => ({ row, seed: 0 }))

for (const prompt of ['full', 'brief']) {
  describeEnvironment(vitest, `countdown, ${prompt}`, {
    open: () => openEnvironment('countdown', { prompt }),
    episodes: puzzles,
    actions: ['44 + 19 + 35', '8 / (3 - 8 / 3)', '44 - 19', '('],
    ending: { episode: puzzles[1], actions: ['3 + 3 + 8 + 8', '8/(3-8/3)'] },
    refused: ({ won }) => !won,
  })
}
