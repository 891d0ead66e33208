import { createExperience } from '../../experience/create.js'
import type { Experience, Message } from '../../experience/experience.js'
import { rowError } from '../../task/messages.js'
import type { ChatCoder } from './chat-coder.js'

/** Limits of plain text. Answers are never cut: a label without its end teaches the model not to stop. */
export interface LengthLimits {
  /** Tokens of a sequence. Default: no limit. */
  maxModelLen?: number
}

export interface Sequence {
  tokens: Int32Array
  promptLength: number
  /** Over the response; undefined if every token counts. */
  mask?: Uint8Array
  messages?: Message[]
  tools?: Record<string, unknown>[]
  /** Assistant turns that could not be located, and are therefore not learned. */
  divergences?: number
}

/** Makes an experience to imitate, whole however long it is: the trainer leaves out and counts what exceeds the model. */
export function sequenceExperience(sequence: Sequence, coder: ChatCoder): Experience {
  const { tokens, promptLength, mask, messages, tools, divergences } = sequence
  if (promptLength < 1) throw rowError('the model would have to begin the sequence: nothing comes before the answer')
  if (tokens.length === promptLength) throw rowError('there is nothing to learn: the answer has no tokens')
  return createExperience({
    messages,
    tools,
    ...(divergences ? { metrics: { token_divergences: divergences } } : {}),
    type: mask ? 'multi_turn' : 'single_turn',
    tokens,
    promptLength,
    actionMask: mask,
    promptText: coder.tokenizer.decode(tokens.subarray(0, promptLength)),
    responseText: coder.tokenizer.decode(tokens.subarray(promptLength)),
  })
}
