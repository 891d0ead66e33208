/** Takes the answer out of a response. */
export interface AnswerParser {
  /** One line for people. */
  readonly doc: string
  /** `null` when there is none. */
  parse(response: string): string | null
}

/** Says whether an answer agrees with the truth. */
export interface AnswerVerifier {
  /** One line for people. */
  readonly doc: string
  verify(answer: string, truth: string): boolean | Promise<boolean>
}
