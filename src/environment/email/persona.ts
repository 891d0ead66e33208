import { NO_ANSWER } from '../../reward/email-answer.js'
import type { Persona, Transition } from '../environment.js'
import { callIn, TOOLS } from './tools.js'

/** What an episode is worth that ends without an answer. */
export const WITHOUT_ANSWER = NO_ANSWER.accuracy + NO_ANSWER.format

function rules(maxTurns: number, goal: string): string {
  const tools = TOOLS.map((tool) => JSON.stringify({ type: 'function', function: tool }))
  return `You search a user's e-mails for the answer to a question. You have up to ${maxTurns} turns: where one search finds nothing, try other keywords. Say what you see and what you do next, and call one tool in each turn. Call \`generate_response\` once you have the answer, and only then.

${goal}

# Tools

You may call these functions, whose signatures are given in <tools></tools>:
<tools>
${tools.join('\n')}
</tools>

For a call, give JSON with its name and arguments between <tool_call> and </tool_call>:
<tool_call>
{"name": <function-name>, "arguments": <args-json-object>}
</tool_call>`
}

/** Tools as models with the form of Hermes know them. `goal` is whose mails they are and which day it is. */
export const persona: Persona = {
  system: ({ maxSteps, goal = '' }) => rules(maxSteps, goal),
  prompt: ({ step, observation }) => (step === 0 ? observation : `<tool_response>\n${observation}\n</tool_response>`),
  action: (reply) => callIn(reply) ?? refusal('there is none between <tool_call> and </tool_call>'),
}

/** What is no call of a tool costs a turn. */
export function refusal(problem: string): Transition {
  const observation = `Error: No tool was called: ${problem}.`
  return { observation, reward: 0, done: false, score: WITHOUT_ANSWER, metrics: { valid_action: 0 } }
}
