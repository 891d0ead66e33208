// A workflow of your own in one file: the model may answer twice, and a right second answer earns less.
import { MultiTurnWorkflow, rewardFns, workflows } from 'trinity-rft'

class SecondChance extends MultiTurnWorkflow {
  async play() {
    const messages = [{ role: 'user', content: String(this.task.taskDesc) }]
    const countdown = rewardFns.get('countdown_reward')
    for (const worth of [1, 0.5]) {
      const [answer] = await this.model.chat(messages)
      const response = answer.responseText ?? ''
      const { score } = await countdown.score({ response, truth: this.task.truth }, {} as never)
      if (score === 1) return { reward: worth, info: { tries: worth === 1 ? 1 : 2 } }
      this.logger.debug(`${response} is wrong`)
      // The same question again: what was said before stays in the conversation.
      messages.push({ role: 'assistant', content: response }, messages[0])
    }
    return { reward: 0, info: { tries: 2 } }
  }
}

workflows.add('second_chance', SecondChance)
