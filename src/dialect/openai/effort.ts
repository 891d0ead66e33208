import type { ChatArgs } from '../chat-args.js'

/** How much to reason: a variable of the template, for models that were taught it; none is a switch that others have too. */
export function effortArgs(
  effort: string | null | undefined,
  variables: ChatArgs['chat_template_kwargs'],
): Pick<ChatArgs, 'chat_template_kwargs' | 'enable_thinking'> {
  if (!effort) return {}
  if (effort === 'none') return { enable_thinking: false }
  return { chat_template_kwargs: { reasoning_effort: effort, ...variables } }
}
