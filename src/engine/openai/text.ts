import { writeNewTokenizer } from '../../model/new-tokenizer.js'
import { Tokenizer } from '../../model/tokenizer.js'

/**
 * How a chat with a hosted model is written down here. The service makes its own text and tokens of the messages and shows
 * neither; ours are the bytes of this text, so that a conversation is recorded like any other.
 */
const TEMPLATE = `{% if tools %}{{ '<|tools|>' }}{{ tools | tojson }}{{ '<|end|>' }}{% endif %}
{%- for message in messages -%}
{{ '<|' + message.role + '|>' }}
{%- if message.content is string %}{{ message.content }}{% elif message.content %}{{ message.content | tojson }}{% endif %}
{%- if message.tool_calls %}{{ message.tool_calls | tojson }}{% endif %}
{{- '<|end|>' }}
{%- endfor %}
{%- if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}`

/** Writes the files that a model directory would have for this. */
export async function writeHostedText(dir: string): Promise<void> {
  await writeNewTokenizer(dir, { kind: 'bytes' }, TEMPLATE)
}

/** From what a service says to the tokens that stand for it. */
export interface HostedText {
  readonly vocabSize: number
  /** Behind an answer that ended. */
  readonly end: number
  /** Also what looks like a special token is no more than its bytes. */
  bytesOf(text: string): Int32Array
}

export async function openHostedText(dir: string): Promise<HostedText> {
  const tokenizer = await Tokenizer.load(dir)
  const { vocabSize, eosId: end = 0 } = tokenizer
  const ids = new Int32Array(256)
  for (let id = 0; id < vocabSize; id++) if (!tokenizer.isSpecial(id)) ids[tokenizer.tokenBytes(id)[0]] = id
  return { vocabSize, end, bytesOf: (text) => Int32Array.from(Buffer.from(text), (byte) => ids[byte]) }
}
