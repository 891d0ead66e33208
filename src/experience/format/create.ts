import { TrinityError } from '../../base/error.js'
import type { FormatConfig, Given } from '../../config/index.js'
import type { ChatCoder } from './chat-coder.js'
import type { Format } from './formatter.js'
import { formatters } from './registry.js'
import type { LengthLimits } from './sequence.js'

export function createFormatter(
  schema: string,
  format: Given<FormatConfig>,
  coder: ChatCoder,
  limits: LengthLimits = {},
): Format {
  const media = format.image_key ? 'image_key' : format.video_key ? 'video_key' : undefined
  if (media) {
    throw new TrinityError('task/media', 'training data with images or videos cannot be used: models here read text', {
      path: `format.${media}`,
      hint: `remove ${media}`,
    })
  }
  return formatters.get(schema).create(format, coder, limits)
}
