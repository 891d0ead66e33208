import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { z } from 'zod'
import { messageOf, TrinityError } from '../../base/error.js'
import { type Exit, OwnedProcess } from '../../machine/owned-process.js'
import { scoreResponse } from '../reward.js'
import { Workflow } from '../workflow.js'
import { workflowArgs } from '../workflow-args.js'
import { rowOf } from './agent-task.js'
import { outputReward } from './output-reward.js'
import { type AgentRollout, rollOut } from './rollout.js'

const args = z.strictObject({
  command: z
    .union([z.string().min(1), z.array(z.string()).min(1)])
    .describe('what is run for each rollout: a line for the shell, or a program with its arguments'),
  files: z.string().optional().describe('a folder that is copied for each rollout, to work in the copy'),
  cwd: z.string().optional().describe('where it works; default: the copy of `files`, else where Trinity was started'),
  env: z.record(z.string(), z.string()).default({}).describe('further variables of the environment'),
  sampling: z
    .enum(['run', 'agent'])
    .default('run')
    .describe('who decides on temperature, top_p, top_k, min_p and seed: the run, or the program'),
  unknown_request_fields: z
    .enum(['ignore', 'refuse'])
    .optional()
    .describe('unknown fields and hosted tools of its requests; default: that of explorer.rollout_model'),
  reward_from: z
    .enum(['output', 'exit'])
    .default('output')
    .describe('output: the last line of JSON that it prints; exit: 1 if it ends with 0, else 0'),
})

/** So much of the end of what it prints is kept. */
const MOST_OUTPUT = 1 << 20

interface Ended {
  readonly exit: Exit
  readonly output: string
  readonly complaints: readonly string[]
}

/** An agent in a process of its own, in any language. */
export class CommandWorkflow extends Workflow {
  static override readonly doc: string = 'a program that is run for each rollout and calls the model over HTTP'
  static override readonly args: z.ZodObject = args

  run() {
    const given = workflowArgs(this.task, args)
    return rollOut(
      this.context,
      async (rollout) => {
        const folder = await mkdtemp(join(tmpdir(), 'trinity-agent-'))
        try {
          const ended = await this.#perform(given, folder, rollout)
          return await this.#reward(given, folder, ended)
        } finally {
          await rm(folder, { recursive: true, force: true, maxRetries: 3 })
        }
      },
      { sampling: given.sampling, unknownFields: given.unknown_request_fields },
    )
  }

  async #perform(given: z.output<typeof args>, folder: string, rollout: AgentRollout): Promise<Ended> {
    if (given.files) await copied(given.files, folder)
    const task = JSON.stringify(rowOf(this.task))
    const taskFile = join(folder, 'task.json')
    await writeFile(taskFile, task)
    const [command, ...rest] = typeof given.command === 'string' ? ['/bin/sh', '-c', given.command] : given.command
    const { signal, model, env } = rollout
    signal.throwIfAborted()
    const child = new OwnedProcess({
      command,
      args: rest,
      cwd: resolve(given.cwd ?? (given.files ? folder : '.')),
      env: {
        ...process.env,
        ...env,
        ...given.env,
        TRINITY_TASK_FILE: taskFile,
        TRINITY_WORKDIR: folder,
        TRINITY_MODEL: model,
      },
      output: 'data',
      log: (line) => this.logger.debug(line),
    })
    child.keepsAlive(true)
    const kill = () => child.kill()
    signal.addEventListener('abort', kill, { once: true })
    try {
      child.input.end(`${task}\n`)
      const printed = textOf(child.output)
      const exit = await child.exited
      // what it has left running holds its output open
      child.kill()
      const output = await printed
      signal.throwIfAborted()
      return { exit, output, complaints: child.log.last() }
    } finally {
      signal.removeEventListener('abort', kill)
      child.kill()
    }
  }

  async #reward(given: z.output<typeof args>, folder: string, ended: Ended): Promise<unknown> {
    const { exit, output } = ended
    if (exit.error) throw failed(given.command, `could not be started: ${exit.error.message}`, ended)
    if (given.reward_from === 'exit') return exit.code === 0
    if (exit.code !== 0) {
      const how = exit.signal ? `was ended by ${exit.signal}` : `ended with exit code ${exit.code}`
      throw failed(given.command, how, ended)
    }
    if (!this.task.rewardFn) {
      const reward = outputReward(output)
      if (reward !== undefined) return reward
      const last = output.trimEnd().split('\n').at(-1)?.slice(0, 200)
      throw new TrinityError(
        'agent/no-reward',
        `the command printed no reward; its last line: ${JSON.stringify(last)}`,
        {
          path: 'workflow_args.command',
          hint: 'print {"reward": 1} as its last line, set reward_from: exit, or name a reward function in default_reward_fn_type',
        },
      )
    }
    // the function reads what was printed as the answer, and finds the files that were left
    const task = { ...this.task, raw: { ...this.task.raw, output, folder } }
    const [experience] = this.model.toExperiences()
    if (!experience) return 0
    return scoreResponse(task, { ...experience, responseText: output.trim() }, undefined, { signal: this.signal })
  }
}

async function copied(files: string, folder: string): Promise<void> {
  await cp(resolve(files), folder, { recursive: true }).catch((cause) => {
    throw new TrinityError('agent/files', `cannot copy '${files}': ${messageOf(cause)}`, {
      path: 'workflow_args.files',
      hint: 'give a folder that is there; ${config.dir:files} is one beside the configuration',
      cause,
    })
  })
}

async function textOf(stream: NodeJS.ReadableStream): Promise<string> {
  let text = ''
  stream.setEncoding('utf8')
  for await (const part of stream) {
    text += part
    if (text.length > 2 * MOST_OUTPUT) text = text.slice(-MOST_OUTPUT)
  }
  return text.slice(-MOST_OUTPUT)
}

function failed(command: string | readonly string[], how: string, { output, complaints }: Ended): TrinityError {
  const said = complaints.length > 0 ? complaints : output.trim().split('\n').slice(-5)
  const shown = typeof command === 'string' ? command : command.join(' ')
  return new TrinityError('agent/command', `the command ${how}: ${shown}\n${said.join('\n')}`.trimEnd(), {
    path: 'workflow_args.command',
    hint: 'run it by itself: the task comes on standard input, the model by OPENAI_BASE_URL and OPENAI_API_KEY',
  })
}
