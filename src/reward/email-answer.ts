/** What became of a search for an answer in a mailbox, in the words of the original. */
export interface EmailRubric {
  readonly attempted_answer: boolean
  readonly answer_correct: boolean
  readonly returned_i_dont_know: boolean
  readonly ever_found_right_email: boolean
  readonly ever_read_right_email: boolean
  readonly sources_correct: boolean
  readonly num_sources: number
  readonly num_turns: number
}

/** The parts of its reward. */
export interface EmailReward {
  readonly accuracy: number
  readonly format: number
}

/** What an agent says that has not found the answer. */
export const UNKNOWN = "I don't know"

/** Without an answer. */
export const NO_ANSWER: EmailReward = { accuracy: 0, format: -1 }

/**
 * The rule of ART-E: a right answer earns 2 to 2.5, more for its source, for few sources and few turns; a wrong one −1;
 * both of the others a tenth for each of finding, reading and naming the right mail. `unknownIsWrong`: as in the
 * original, where who says that he does not know loses as much as who is wrong.
 */
export function emailReward(rubric: EmailRubric, maxTurns: number, unknownIsWrong = false): EmailReward {
  const { ever_found_right_email: found, ever_read_right_email: read, sources_correct: cited } = rubric
  const partial = (found ? 0.1 : 0) + (read ? 0.1 : 0) + (cited ? 0.1 : 0)
  if (rubric.answer_correct) {
    const sources = rubric.num_sources > 0 ? 0.1 / rubric.num_sources : 0
    return { accuracy: 1, format: 1 + (cited ? 0.3 : 0) + sources + 0.1 * (1 - rubric.num_turns / maxTurns) }
  }
  const gaveUp = rubric.returned_i_dont_know && !unknownIsWrong
  return { accuracy: rubric.attempted_answer && !gaveUp ? -1 : 0, format: partial }
}

/** Words that an answer may have beside those of the truth: who repeats a whole mail has not answered. */
const SPARE_WORDS = 20

/** Whether an answer says the truth: its words, one after the other, in a short sentence. */
export function saysTruth(answer: string, truth: string): boolean {
  const [said, wanted] = [wordsOf(answer), wordsOf(truth)]
  if (wanted.length === 0 || said.length > wanted.length + SPARE_WORDS) return false
  return ` ${said.join(' ')} `.includes(` ${wanted.join(' ')} `)
}

function wordsOf(text: string): string[] {
  return text.toLowerCase().match(/[\p{L}\p{N}]+(?:[.,:@'’-][\p{L}\p{N}]+)*/gu) ?? []
}
