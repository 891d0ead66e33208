// The assistant of agents/openai-agents.mjs, to be trained.
import { agent } from 'trinity-rft'
import { answer } from './agents/openai-agents.mjs'
import { rewardOf } from './reward.mjs'

export default agent('headline_openai_agents', async ({ question, prices, truth, needs }) =>
  rewardOf({ truth, needs }, await answer(question, prices)),
)
