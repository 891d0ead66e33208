import type { NewConversation } from '../run/one-model.js'
import type { Player } from './watch.js'

/** A model that plays. Each episode has its own conversation and its own random numbers. */
export function playerOf(newConversation: NewConversation): (episode: number) => Player {
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
