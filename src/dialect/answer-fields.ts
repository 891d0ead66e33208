import { unsupported } from './wire.js'

/** Hint for fields that have another name in each API. */
const OTHER_NAME = 'this API has another field for it'

/**
 * Fields that change an answer or add to it, in any API, with a hint. A dialect that does not read one of them refuses
 * it: ignoring it would give another answer than the one that was asked for.
 */
const FIELDS: Readonly<Record<string, string | undefined>> = {
  // the prompt
  ...{ messages: OTHER_NAME, input: OTHER_NAME, prompt: OTHER_NAME, instructions: OTHER_NAME, system: OTHER_NAME },
  ...{ conversation: 'send the whole conversation', previous_response_id: undefined, thread: undefined },
  ...{ chat_template: 'set model.custom_chat_template', documents: 'put them into a message', echo: undefined },
  ...{ suffix: undefined, truncate_prompt_tokens: undefined, truncation: undefined },
  continue_final_message: 'a conversation that ends with the assistant is continued',
  // tools
  ...{ tools: undefined, tool_choice: undefined, functions: "use 'tools'", function_call: "use 'tool_choice'" },
  ...{ mcp_servers: 'the client has to call them', max_tool_calls: 'use parallel_tool_calls: false for one call' },
  // length and end
  ...{ max_tokens: OTHER_NAME, max_completion_tokens: OTHER_NAME, max_output_tokens: OTHER_NAME },
  ...{ min_tokens: undefined, ignore_eos: undefined, stop: OTHER_NAME, stop_sequences: OTHER_NAME },
  stop_token_ids: undefined,
  // number of answers
  ...{ n: undefined, best_of: undefined, use_beam_search: undefined },
  // allowed tokens
  ...{ logit_bias: undefined, allowed_token_ids: undefined, bad_words: undefined, logits_processors: undefined },
  ...{ custom_logit_processor: undefined, structural_tag: undefined, grammar: undefined, ebnf: undefined },
  ...{ response_format: OTHER_NAME, output_format: OTHER_NAME, json_schema: OTHER_NAME, regex: OTHER_NAME },
  ...{ structured_outputs: OTHER_NAME, guided_json: OTHER_NAME, guided_regex: OTHER_NAME, guided_choice: OTHER_NAME },
  guided_grammar: undefined,
  // what a reply holds
  ...{ logprobs: undefined, top_logprobs: undefined, prompt_logprobs: undefined, return_token_ids: undefined },
  ...{ audio: undefined, modalities: undefined, background: undefined },
}

export function isAnswerField(key: string): boolean {
  return Object.hasOwn(FIELDS, key)
}

/** Throws for such a field, unless its value asks for nothing. */
export function checkAnswerField(key: string, value: unknown): void {
  if (!asksForNothing(key, value)) throw unsupported(key, `'${key}'`, FIELDS[key])
}

function asksForNothing(key: string, value: unknown): boolean {
  // a request of the chat API, whatever it says
  if (key === 'messages') return false
  if (key === 'n' || key === 'best_of') return value === 1
  if (typeof value === 'object' && value !== null) return Object.keys(value).length === 0
  return value === false || value === ''
}
