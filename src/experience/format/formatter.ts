import type { FormatConfig, Given } from '../../config/index.js'
import type { Experience } from '../../experience/experience.js'
import type { DataRow } from '../../task/source/row-source.js'
import type { ChatCoder } from './chat-coder.js'
import type { LengthLimits } from './sequence.js'

/** Turns a row of training data into an experience. */
export type Format = (row: DataRow) => Experience

export interface FormatterType {
  readonly doc: string
  create(format: Given<FormatConfig>, coder: ChatCoder, limits: LengthLimits): Format
}
