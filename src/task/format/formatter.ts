import type { Experience } from '../../experience/experience.js'
import type { Row } from '../source/row-source.js'
import type { FormatConfig } from '../task.js'
import type { ChatCoder } from './chat-coder.js'
import type { Limits } from './sequence.js'

/** Turns a row of training data into an experience. */
export type Format = (row: Row) => Experience

export interface FormatterType {
  readonly doc: string
  create(format: FormatConfig, coder: ChatCoder, limits: Limits): Format
}
