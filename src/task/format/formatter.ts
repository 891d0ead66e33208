import { TrinityError } from '../../error.js'
import type { Experience } from '../../experience/experience.js'
import { Registry } from '../../registry.js'
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

/** By `schema_type`. */
export const formatters = new Registry<FormatterType>('formatter')

export function createFormatter(schema: string, format: FormatConfig, coder: ChatCoder, limits: Limits = {}): Format {
  const media = format.image_key ? 'image_key' : format.video_key ? 'video_key' : undefined
  if (media) {
    throw new TrinityError('task/media', 'training data with images or videos cannot be used: models here read text', {
      path: `format.${media}`,
      hint: `remove ${media}`,
    })
  }
  return formatters.get(schema).create(format, coder, limits)
}
