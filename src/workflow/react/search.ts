import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { Experience } from '../../experience/index.js'
import type { RewardScores } from '../reward.js'
import { auxiliaryName, workflowArgs } from '../workflow-args.js'
import { judgeOfAnswer, SEARCH } from './prompts.js'
import type { ReactReply } from './react-agent.js'
import { ReactWorkflow } from './react-workflow.js'
import { sharedMcpTools } from './shared-mcp.js'

/** Servers that search, and the variable each needs. */
const CLIENTS = {
  searxng: { command: 'npx -y mcp-searxng', variable: 'SEARXNG_URL' },
  tavily: { command: 'npx -y tavily-mcp', variable: 'TAVILY_API_KEY' },
} as const

const args = z.strictObject({
  max_turns: z.number().int().min(1).default(10).describe('how often the model is asked'),
  search_client_type: z.enum(['searxng', 'tavily']).default('searxng').describe('which MCP server searches'),
  search_command: z.string().min(1).optional().describe('another MCP server that searches: a line for the shell'),
  max_model_tokens: z.number().int().min(1).default(24_000).describe('longer sequences are not trained on'),
  judge_model: auxiliaryName.default(0).describe('the auxiliary model that judges the answer'),
})

/** A ReAct agent that searches the web through an MCP server; an auxiliary model judges its answer. */
export class ReactSearchWorkflow extends ReactWorkflow {
  static override readonly doc: string = 'a ReAct agent that searches the web by MCP; a judge decides on its answer'
  static override readonly args: z.ZodObject = args
  readonly args = workflowArgs(this.task, args)

  async setup() {
    // a judge that is missing is told before anything is searched
    this.auxiliary.chat(this.args.judge_model)
    const tools = await sharedMcpTools(this.#command())
    return { system: SEARCH, tools, maxSteps: this.args.max_turns }
  }

  /** 1 where the judge says yes, 0 where it says no or there is no answer; no reward where it says neither. */
  async reward(reply: ReactReply | undefined): Promise<RewardScores | undefined> {
    if (reply?.end !== 'answer' || reply.text.trim() === '') return { accuracy: 0 }
    const { truth, raw } = this.task
    const asked = { question: this.question, truth: String(truth ?? raw.answer), answer: reply.text }
    const messages = [{ role: 'user', content: judgeOfAnswer(asked) }]
    const [{ responseText = '' }] = await this.auxiliary.chat(this.args.judge_model).chat(messages, { n: 1 })
    const verdict = /correctness\W+(yes|no)\b/i.exec(responseText)?.[1].toLowerCase()
    if (verdict === undefined) this.logger.warn(`the judge gave no verdict: ${JSON.stringify(responseText)}`)
    return verdict === undefined ? undefined : { accuracy: verdict === 'yes' ? 1 : 0 }
  }

  protected override kept(experiences: Experience[]): Experience[] {
    const most = this.args.max_model_tokens
    const kept = experiences.filter(({ tokens }) => tokens.length <= most)
    if (kept.length > 0) return kept
    throw new TrinityError('workflow/too-long', `every sequence of the search has more than ${most} tokens`, {
      path: 'workflow_args.max_model_tokens',
      hint: 'raise max_model_tokens, or lower max_turns',
    })
  }

  #command(): string {
    const { search_client_type, search_command } = this.args
    if (search_command !== undefined) return search_command
    const { command, variable } = CLIENTS[search_client_type]
    if (process.env[variable]) return command
    throw new TrinityError('workflow/args', `the variable ${variable} is not set`, {
      path: 'workflow_args.search_client_type',
      hint: `set ${variable} for ${search_client_type}, or give an MCP server of your own with search_command`,
    })
  }
}
