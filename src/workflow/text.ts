import { TrinityError } from '../base/error.js'
import { Chat, type ChatTemplate, Tokenizer } from '../model/index.js'

/** How a model reads and writes: a tokenizer, and a chat template where it has one. A `Chat` is such a thing. */
export interface ModelText {
  readonly tokenizer: Tokenizer
  readonly template?: ChatTemplate
}

/**
 * Reads both from a model directory. A base model without a template is fine until messages are rendered. `note` gets what
 * the template does not support.
 */
export async function openModelText(
  dir: string,
  template?: string | null,
  note?: (text: string) => void,
): Promise<ModelText> {
  const tokenizer = await Tokenizer.load(dir)
  if (!template && tokenizer.chatTemplate === undefined) return { tokenizer }
  const chat = await Chat.of(tokenizer, template ?? undefined)
  if (note) chat.template.onToolFallback = note
  return chat
}

export function templateOf({ tokenizer, template }: ModelText): ChatTemplate {
  if (template) return template
  throw new TrinityError('chat/missing', 'the tokenizer has no chat template', {
    path: tokenizer.path,
    hint: 'set model.custom_chat_template to a Jinja template, use a chat model, or call generate with a plain prompt',
  })
}
