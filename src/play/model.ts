import { type OneModelContext, type OneModelOptions, openOneModel } from '../run/one-model.js'
import type { Player } from './watch.js'

/** Opens a model that plays. Each episode has its own conversation and its own random numbers. */
export async function openPlayer(
  options: OneModelOptions,
  context: OneModelContext,
): Promise<(episode: number) => Player> {
  const newConversation = await openOneModel(options, context)
  return (episode) => {
    const model = newConversation('play', episode)
    return {
      async reply(messages) {
        const [answer] = await model.chat(messages)
        return answer.truncateStatus === 'prompt_truncated' ? undefined : (answer.responseText ?? '')
      },
    }
  }
}
