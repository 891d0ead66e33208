import { TrinityError } from '../../base/error.js'
import type { FormatConfig, Given } from '../../config/index.js'
import { rowError, textOf } from '../../task/messages.js'
import type { ChatCoder } from './chat-coder.js'
import type { Format, FormatterType } from './formatter.js'
import { type LengthLimits, sequenceExperience } from './sequence.js'

/** Plain text, learned from its second token on, as far as the model reaches. */
function create(format: Given<FormatConfig>, coder: ChatCoder, limits: LengthLimits): Format {
  if (format.prompt_type !== 'plaintext') {
    throw new TrinityError('task/format', 'continued pre-training reads plain text', {
      path: 'format.prompt_type',
      hint: 'set prompt_type: plaintext and prompt_key to the column with the text',
    })
  }
  return (row) => {
    const text = textOf(row, format.prompt_key ?? 'prompt', 'text')
    const tokens = coder.tokenizer.encode(text, { addSpecial: true })
    if (tokens.length < 2) throw rowError('the text is too short: at least two tokens are needed')
    const most = limits.maxModelLen ?? tokens.length
    const experience = sequenceExperience({ tokens: tokens.slice(0, most), promptLength: 1 }, coder)
    return tokens.length > most ? { ...experience, truncateStatus: 'response_truncated' } : experience
  }
}

export const cpt: FormatterType = { doc: 'plain text for continued pre-training', create }
