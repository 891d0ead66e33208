import { z } from 'zod'
import { interpreterFor } from '../../environment/python/interpreter.js'
import type { Experience } from '../../experience/index.js'
import { type RewardScores, scoreResponse } from '../reward.js'
import { workflowArgs } from '../workflow-args.js'
import { SOLVE, SOLVE_WITH_PYTHON } from './prompts.js'
import { pythonTool } from './python-tool.js'
import type { ReactReply } from './react-agent.js'
import { ReactWorkflow } from './react-workflow.js'

/** The boxed answer in what the agent says is compared with the truth (of a GSM8K solution, what follows ####). */
abstract class ReactMath<R> extends ReactWorkflow<R> {
  /** The text that is judged. */
  protected abstract answer(reply: ReactReply<R>): string

  reward(reply: ReactReply<R> | undefined, experience: Experience, signal: AbortSignal): Promise<RewardScores> {
    const responseText = reply ? this.answer(reply) : ''
    return scoreResponse(this.task, { ...experience, responseText }, 'math_boxed_reward', { signal })
  }
}

const maxTurns = z.number().int().min(1).default(10).describe('how often the model is asked')

const gsm8kArgs = z.strictObject({
  type: z.enum(['gsm8k']).default('gsm8k').describe('Kind of tasks: which tools and which reward.'),
  max_turns: maxTurns,
})
const solution = z.object({ result: z.string().describe('The solution, with the final answer in \\boxed{}.') })

/** A ReAct agent that hands over a structured result. */
export class ReactGsm8kWorkflow extends ReactMath<z.output<typeof solution>> {
  static override readonly doc: string = 'a ReAct agent that hands over a result; math_boxed_reward'
  static override readonly args = gsm8kArgs

  setup() {
    return { system: SOLVE, finish: solution, maxSteps: workflowArgs(this.task, gsm8kArgs).max_turns }
  }

  protected answer({ result }: ReactReply<z.output<typeof solution>>): string {
    return result?.result ?? ''
  }
}

const pythonArgs = z.strictObject({
  max_turns: maxTurns,
  python: z.string().nullable().default(null).describe('the interpreter; default as for Python environments'),
  code_timeout: z.number().positive().default(30).describe('seconds that code of the model may take'),
})

/** A ReAct agent that may run Python. */
export class ReactPythonMathWorkflow extends ReactMath<unknown> {
  static override readonly doc: string = 'a ReAct agent that may run Python; math_boxed_reward'
  static override readonly args = pythonArgs

  async setup() {
    const { max_turns, python, code_timeout } = workflowArgs(this.task, pythonArgs)
    // told here: a tool that fails would only tell the model
    const interpreter = await interpreterFor('json', python)
    const tools = [pythonTool({ python: interpreter, timeoutMs: code_timeout * 1000 })]
    return { system: SOLVE_WITH_PYTHON, tools, maxSteps: max_turns }
  }

  protected answer({ text }: ReactReply): string {
    return text
  }
}
