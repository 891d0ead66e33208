import fc from 'fast-check'

const KEYS =
  `messages input prompt instructions system tools tool_choice stop stop_sequences n seed max_tokens metadata user text
  reasoning thinking thread include stream temperature top_p logit_bias response_format max_output_tokens truncation
  previous_response_id store parallel_tool_calls logprobs background output_config echo best_of content role functions
  structured_outputs random_seed use_beam_search mcp_servers context_management client_metadata __proto__`.split(/\s+/)
const NAMES =
  'type role content text id name function arguments call_id tool_calls input tools mode namespace source data output'.split(
    ' ',
  )
const WORDS =
  `user assistant tool message function_call text tool_use tool_result function namespace custom image document
  allowed_tools web_search input_image custom_tool_call function_call_output`.split(/\s+/)

const { any } = fc.letrec((tie) => ({
  any: fc.oneof(
    { depthSize: 'small' },
    fc.constantFrom<unknown>(null, true, '', 'x', 0, 1, -1, 1e9, 0.5, ...WORDS),
    fc.array(tie('any'), { maxLength: 3 }),
    fc.dictionary(fc.constantFrom(...NAMES), tie('any'), { maxKeys: 4 }),
  ),
}))

/** Keys that the APIs have, with values that they may not have. */
export const anyBody: fc.Arbitrary<Record<string, unknown>> = fc.dictionary(fc.constantFrom(...KEYS), any, {
  maxKeys: 4,
})
