/** `response_format` of the OpenAI API. The schema is held to whether `strict` is set or not. */
export type ResponseFormat =
  | { readonly type: 'text' | 'json_object' }
  | {
      readonly type: 'json_schema'
      readonly json_schema: { readonly schema: unknown; readonly name?: string; readonly [key: string]: unknown }
    }

/** A function by its name. */
export interface NamedTool {
  readonly type: 'function'
  readonly function: { readonly name: string }
}

/**
 * `tool_choice` of the OpenAI API: the model may call tools, must not, must call some, must call this one, or may (must)
 * call only some of those that the prompt describes.
 */
export type ToolChoice =
  | 'auto'
  | 'none'
  | 'required'
  | NamedTool
  | {
      readonly type: 'allowed_tools'
      readonly allowed_tools: { readonly mode: 'auto' | 'required'; readonly tools: readonly NamedTool[] }
    }

/** Sampling of one call, under the names of the YAML and of the OpenAI API; null and undefined mean the default. */
export interface SamplingArgs {
  temperature?: number | null
  top_p?: number | null
  top_k?: number | null
  min_p?: number | null
  repetition_penalty?: number | null
  presence_penalty?: number | null
  frequency_penalty?: number | null
  /** Added to the logits of tokens, by id. */
  logit_bias?: Readonly<Record<string, number>> | null
  max_tokens?: number | null
  min_tokens?: number | null
  /** How many answers; default: one, or all runs of the task for a workflow that repeats itself. */
  n?: number | null
  stop?: string | readonly string[] | null
  stop_token_ids?: readonly number[] | null
  /** Leave the stop string in the text. Its tokens are in the experience in any case. */
  include_stop_str_in_output?: boolean | null
  ignore_eos?: boolean | null
  seed?: number | null
  /** Log-probs of how many likeliest tokens to keep beside the drawn one. */
  logprobs?: number | null
  /** What the answer must look like: only tokens that lead there are drawn. */
  response_format?: ResponseFormat | null
  /** The same by a JSON Schema, by a pattern for the whole answer, or as one of some texts: names that vLLM has. */
  guided_json?: unknown
  guided_regex?: string | null
  guided_choice?: readonly string[] | null
}

/** Arguments of one chat call: how to sample, the tools, and the variables of the template. */
export interface ChatArgs extends SamplingArgs {
  tools?: readonly unknown[]
  tool_choice?: ToolChoice | null
  /** Where calls are held to their schema, false allows only one. */
  parallel_tool_calls?: boolean | null
  enable_thinking?: boolean | null
  /** Further variables of the chat template. */
  chat_template_kwargs?: Record<string, unknown>
}
