import type { Answered } from '../../dialect/chat-model.js'
import type { Episode } from '../../environment/index.js'
import type { ChatMessage } from '../../model/index.js'
import type { RolloutModel } from '../rollout-model.js'

/** How an episode is told to a model. */
export interface Telling {
  /** The messages of the next turn; absent: the episode's own. */
  readonly messages?: () => ChatMessage[]
  /** The most tokens of the next reply; undefined: what holds for every reply. None left: the episode ends here. */
  readonly room?: (messages: readonly ChatMessage[]) => number | undefined
}

/** Asks the model turn by turn, until the episode is over or the next reply does not fit. Its answers, one for each turn. */
export async function converse(
  model: Pick<RolloutModel, 'answers'>,
  episode: Episode,
  { messages: messagesOf = () => episode.messages(), room: roomFor }: Telling = {},
): Promise<Answered[]> {
  const answers: Answered[] = []
  while (!episode.over) {
    const messages = messagesOf()
    const room = roomFor?.(messages)
    if (room !== undefined && room < 1) break
    const [answer] = await model.answers(messages, room === undefined ? {} : { max_tokens: room })
    if (answer.experience.truncateStatus === 'prompt_truncated') break
    await episode.reply(answer.experience.responseText ?? '')
    answers.push(answer)
  }
  return answers
}
