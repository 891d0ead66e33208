import { execFile, spawn } from 'node:child_process'
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { dialects } from '../../src/dialect/dialects.js'
import { Gateway, type Session } from '../../src/gateway/index.js'
import { modelOf, speaker } from '../support/workflow-kit.js'

/**
 * Runs the newest versions of coding agents, as npm installs them and with their default configuration, against a gateway
 * with a scripted model: every request must be answered, and the rollout must be one sequence.
 */

/** The tokens of the model are bytes. */
const maxModelLen = 1 << 20
const MINUTES = 60_000
const TASK = 'Write 42 into answer.txt, then look at pic.png'
const PNG = 'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=='

let installed: string
beforeAll(async () => {
  installed = mkdtempSync(join(tmpdir(), 'trinity-harness-'))
  const packages = ['@anthropic-ai/claude-code', '@openai/codex']
  await promisify(execFile)('npm', ['install', '--prefix', installed, '--no-audit', '--no-fund', ...packages])
}, 15 * MINUTES)
afterAll(() => rmSync(installed, { recursive: true, force: true }))

interface Call {
  readonly name: string
  readonly arguments: object
}

interface Start {
  readonly command: readonly string[]
  readonly env: Readonly<Record<string, string>>
}

/** Lets an agent work in a folder of its own. The model makes one call after each result, then says that it is done. */
async function rollout(start: (session: Session, home: string) => Start, callsIn: (work: string) => readonly Call[]) {
  const home = mkdtempSync(join(installed, 'home-'))
  const work = join(home, 'work')
  mkdirSync(work)
  writeFileSync(join(work, 'pic.png'), Buffer.from(PNG, 'base64'))
  const calls = callsIn(work)
  const sampler = await speaker(
    (prompt) => {
      const call = calls[prompt.split('<|tool|>').length - 1]
      return call ? `<tool_call>${JSON.stringify(call)}</tool_call>` : 'Done.'
    },
    { maxModelLen },
  )
  const model = modelOf(sampler, { limits: { maxModelLen, truncatePrompts: false } })
  model.refuseLong()
  const gateway = await Gateway.open({ dialects })
  try {
    const session = gateway.session({ model })
    const { command, env } = start(session, home)
    const ended = await run(join(installed, 'node_modules/.bin', command[0]), command.slice(1), work, {
      HOME: home,
      ...env,
    })
    return { ...ended, work, stats: gateway.stats, calls: session.calls, model }
  } finally {
    await gateway.close()
  }
}

function run(command: string, args: readonly string[], cwd: string, env: Readonly<Record<string, string>>) {
  const child = spawn(command, args, {
    ...{ cwd, detached: true, stdio: ['ignore', 'pipe', 'pipe'] },
    env: { PATH: process.env.PATH, TMPDIR: env.HOME, ...env },
  })
  let output = ''
  child.stdout.on('data', (data) => (output += data))
  child.stderr.on('data', (data) => (output += data))
  return new Promise<{ code: number | null; output: string }>((resolve, reject) => {
    const timer = setTimeout(() => process.kill(-child.pid!, 'SIGKILL'), 3 * MINUTES)
    child.on('error', reject).on('close', (code) => {
      clearTimeout(timer)
      resolve({ code, output })
    })
  })
}

type Rollout = Awaited<ReturnType<typeof rollout>>

function expectWhole({ code, output, work, stats, calls, model }: Rollout): void {
  expect({ code, errors: stats.errors }, output).toEqual({ code: 0, errors: {} })
  expect(readFileSync(join(work, 'answer.txt'), 'utf8').trim()).toBe('42')
  expect(calls).toHaveLength(3)
  expect(model.stats).toMatchObject({ calls: 3, divergences: 0, notes: { media: { image: 1 } } })
  const [experience] = model.toExperiences()
  expect(model.tokenizer.decode(experience.tokens)).toContain('[image omitted: the model reads only text]')
}

describe('the newest agents', () => {
  it(
    'Claude Code works on a task',
    async () => {
      const ended = await rollout(
        ({ anthropicBaseURL, apiKey }, home) => ({
          command: [
            'claude',
            '-p',
            TASK,
            '--model',
            'policy',
            '--output-format',
            'json',
            '--dangerously-skip-permissions',
          ],
          env: {
            ANTHROPIC_BASE_URL: anthropicBaseURL,
            ANTHROPIC_AUTH_TOKEN: apiKey,
            CLAUDE_CONFIG_DIR: join(home, 'claude'),
            IS_SANDBOX: '1',
            CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
            CLAUDE_CODE_MAX_RETRIES: '1',
          },
        }),
        (work) => [
          { name: 'Write', arguments: { file_path: join(work, 'answer.txt'), content: '42' } },
          { name: 'Read', arguments: { file_path: join(work, 'pic.png') } },
        ],
      )
      expectWhole(ended)
    },
    4 * MINUTES,
  )

  // with a name that it knows, Codex describes other tools
  it.each(['policy', 'gpt-5.5'])(
    'Codex works on a task with a model named %s',
    async (name) => {
      const ended = await rollout(
        ({ baseURL, apiKey }, home) => {
          const config = `model = "${name}"
model_provider = "t"
check_for_update_on_startup = false
[model_providers.t]
name = "t"
base_url = "${baseURL}"
env_key = "KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
`
          const folder = join(home, 'codex')
          mkdirSync(folder)
          writeFileSync(join(folder, 'config.toml'), config)
          return {
            command: [
              'codex',
              'exec',
              '--skip-git-repo-check',
              '--dangerously-bypass-approvals-and-sandbox',
              '--json',
              TASK,
            ],
            env: { CODEX_HOME: folder, KEY: apiKey },
          }
        },
        (work) => [
          { name: 'exec_command', arguments: { cmd: 'printf 42 > answer.txt' } },
          { name: 'view_image', arguments: { path: join(work, 'pic.png') } },
        ],
      )
      expectWhole(ended)
      expect(Object.keys(ended.stats.notes.field)).toContain('client_metadata')
    },
    4 * MINUTES,
  )
})
