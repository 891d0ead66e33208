// The assistant of agents/ai-sdk.mjs, to be trained.
import { agent } from 'trinity-rft'
import { answer } from './agents/ai-sdk.mjs'
import { rewardOf } from './reward.mjs'

export default agent('headline_ai_sdk', async ({ question, prices, truth, needs }) =>
  rewardOf({ truth, needs }, await answer(question, prices)),
)
