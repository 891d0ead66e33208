import { describe, expect, it } from 'vitest'
import { emailReward, saysTruth } from './email-answer.js'

const wrong = {
  ...{ attempted_answer: true, answer_correct: false, returned_i_dont_know: false, ever_found_right_email: false },
  ...{ ever_read_right_email: false, sources_correct: false, num_sources: 0, num_turns: 5 },
}
const found = { ever_found_right_email: true, ever_read_right_email: true, sources_correct: true }

describe('emailReward', () => {
  // Worked by hand from the rule of trinity.md §11.4.
  it.each([
    [wrong, -1, 0],
    [{ ...wrong, ...found }, -1, 0.3],
    [{ ...wrong, ...found, sources_correct: false }, -1, 0.2],
    [{ ...wrong, attempted_answer: false }, 0, 0],
    [{ ...wrong, returned_i_dont_know: true, ever_found_right_email: true }, 0, 0.1],
    [{ ...wrong, answer_correct: true }, 1, 1.05],
    [{ ...wrong, ...found, answer_correct: true, num_sources: 1, num_turns: 3 }, 1, 1.47],
    [{ ...wrong, ...found, answer_correct: true, num_sources: 2, num_turns: 10 }, 1, 1.35],
  ])('%j earns %d and %d', (rubric, accuracy, format) => {
    const reward = emailReward(rubric, 10)
    expect(reward.accuracy).toBe(accuracy)
    expect(reward.format).toBeCloseTo(format, 10)
  })

  it("can take 'I don't know' for a wrong answer, as the original does", () => {
    expect(emailReward({ ...wrong, returned_i_dont_know: true }, 10, true)).toEqual({ accuracy: -1, format: 0 })
  })
})

it.each([
  ['Tuesday', 'tuesday', true],
  ['The meeting is on Tuesday.', 'Tuesday', true],
  ['On 12 May 2001, at 3:30.', '12 May 2001', true],
  ['ann.lee@example.com', 'Ann.Lee@example.com', true],
  ['Tuesdays', 'Tuesday', false],
  ['', 'Tuesday', false],
  ['T', 'Tuesday', false],
  ['anything', '', false],
  [`Tuesday ${'word '.repeat(30)}`, 'Tuesday', false],
])('%j for %j: %j', (answer, truth, says) => {
  expect(saysTruth(answer, truth)).toBe(says)
})
