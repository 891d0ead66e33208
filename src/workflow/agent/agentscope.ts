import { resolve } from 'node:path'
import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import { interpreterFor } from '../../environment/python/interpreter.js'
import type { Experience } from '../../experience/index.js'
import { JsonRpc } from '../../machine/json-rpc.js'
import { PythonProcess } from '../../machine/python/process.js'
import type { RolloutModel } from '../rollout-model.js'
import { Workflow } from '../workflow.js'
import { workflowArgs } from '../workflow-args.js'
import { rowOf } from './agent-task.js'
import { rollOut } from './rollout.js'
import { withSession } from './shared-gateway.js'

const FUNCTION = 'file.py:function, or package.module:function'
const python = z.string().nullable().default(null).describe('the interpreter; default one that has agentscope')
const adapterArgs = z.strictObject({
  workflow_func: z.string().min(1).describe(`the function of the agent: ${FUNCTION}`),
  python,
})
const adapterV1Args = adapterArgs.extend({
  judge_func: z.string().min(1).optional().describe(`the function that gives the reward: ${FUNCTION}`),
})

/** The run ends it earlier. */
const LIMIT_MS = 24 * 3600 * 1000

/** Where a model is reached from Python. */
interface Address {
  readonly model: string
  readonly base_url: string
  readonly api_key: string
}

/**
 * An agent of AgentScope for Python as its tuner takes it: `workflow_func(task, model, auxiliary_models, logger)`. All
 * rollouts run in one process, which is started when the first comes.
 */
export class AgentscopeAdapterWorkflow extends Workflow {
  static override readonly doc: string = 'a function of AgentScope for Python that returns the reward'
  static override readonly args: z.ZodObject = adapterArgs

  protected get functions(): { workflow_func: string; judge_func?: string; python: string | null } {
    return workflowArgs(this.task, adapterArgs)
  }

  async run(): Promise<Experience[]> {
    const { workflow_func, judge_func, python } = this.functions
    const worker = workerOf(await interpreterFor('agentscope', python))
    let metrics: Record<string, number> = {}
    const experiences = await rollOut(this.context, ({ baseURL, apiKey, model, signal }) =>
      this.#withAuxiliary(async (auxiliary_models) => {
        const params = {
          task: rowOf(this.task),
          model: { model, base_url: baseURL, api_key: apiKey },
          auxiliary_models,
          workflow_func: placed(workflow_func),
          judge_func: judge_func && placed(judge_func),
        }
        const answer = await worker.ask('rollout', params, LIMIT_MS, signal)
        metrics = answer.metrics as Record<string, number>
        if (typeof answer.reward === 'number') return answer.reward
        throw new TrinityError('agent/no-reward', `${judge_func ?? workflow_func} gave no reward`, {
          path: `workflow_args.${judge_func ? 'judge_func' : 'workflow_func'}`,
          hint: 'return a number, or an object with `reward`; or name a judge_func',
        })
      }),
    )
    Object.assign(experiences[experiences.length - 1].metrics, metrics)
    return experiences
  }

  /** Judges and teachers are reached as the model is, each with a key of its own. */
  async #withAuxiliary<T>(work: (addresses: Record<string, Address>) => Promise<T>): Promise<T> {
    const open = (names: readonly string[], addresses: Record<string, Address>): Promise<T> => {
      const [name, ...rest] = names
      if (name === undefined) return work(addresses)
      const model: RolloutModel = this.auxiliary.chat(name)
      return withSession({ model, signal: this.signal }, ({ baseURL, apiKey }) =>
        open(rest, { ...addresses, [name]: { model: model.name, base_url: baseURL, api_key: apiKey } }),
      )
    }
    return open(this.auxiliary.chatNames, {})
  }
}

/** The same with a judge: `judge_func(task, response, auxiliary_models, logger)`. */
export class AgentscopeAdapterV1Workflow extends AgentscopeAdapterWorkflow {
  static override readonly doc: string = 'a function of AgentScope for Python, and one that judges what it returns'
  static override readonly args: z.ZodObject = adapterV1Args

  protected override get functions() {
    return workflowArgs(this.task, adapterV1Args)
  }
}

const workers = new Map<string, JsonRpc>()

function workerOf(python: string): JsonRpc {
  const known = workers.get(python)
  if (known?.isOpen) return known
  const started = new JsonRpc(new PythonProcess({ python, module: 'trinity_agent', output: 'data' }), {
    code: 'agent/python',
    name: 'the agent in Python',
    command: `${python} -m trinity_agent`,
    hint: 'its last lines say where it failed; try the function by itself',
  })
  workers.set(python, started)
  return started
}

/** A file is looked for where Trinity was started. */
function placed(name: string): string {
  const [, file, attribute] = /^(.+\.py):(\w+)$/.exec(name) ?? []
  return file === undefined ? name : `${resolve(file)}:${attribute}`
}
