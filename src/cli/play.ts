import { createInterface } from 'node:readline'
import pc from 'picocolors'
import { messageOf, TrinityError } from '../base/error.js'
import { environments } from '../environment/index.js'
import { usePlugins } from '../plugin/use.js'
import type { DataRow } from '../task/index.js'
import { decimal, wholeNumber } from './number.js'
import { readValue } from './options.js'
import type { ExitCode } from './print.js'

export interface PlayOptions {
  args?: string[]
  row?: string
  data?: string
  split?: string
  task?: string
  seed?: string
  maxSteps?: string
  model?: string
  episodes?: string
  temperature?: string
  maxTokens?: string
  quiet?: boolean
  pluginDir?: string[]
}

/** What tests replace. */
export interface PlayWorld {
  readonly input: NodeJS.ReadableStream & { isTTY?: boolean }
  readonly print: (text: string) => void
}

/** `trinity play`: a person plays, or a model does and a person watches. */
export async function play(
  name: string | undefined,
  options: PlayOptions,
  world: Partial<PlayWorld> = {},
): Promise<ExitCode> {
  const print = world.print ?? ((text: string) => void process.stdout.write(`${text}\n`))
  await usePlugins(options.pluginDir)
  if (name === undefined) {
    for (const one of environments.names()) print(`${pc.bold(one)}: ${environments.get(one).doc}`)
    return 0
  }
  const signal = interrupted(options.model !== undefined)
  const { openGame } = await import('../play/index.js')
  const game = await openGame({
    world: name,
    args: argsOf(name, options.args ?? []),
    row: rowOf(options.row),
    data: options.data,
    split: options.split,
    task: wholeNumber('--task', options.task, 0),
    seed: wholeNumber('--seed', options.seed, 0),
    maxSteps: options.maxSteps === undefined ? undefined : wholeNumber('--max-steps', options.maxSteps, 1, 1),
    signal,
  })
  try {
    if (options.model !== undefined) await watchModel(game, { ...options, model: options.model }, print, signal)
    else await atTheKeyboard(game, world.input ?? process.stdin, print)
    return 0
  } finally {
    await game.close()
  }
}

type Game = Awaited<ReturnType<typeof import('../play/index.js').openGame>>

async function atTheKeyboard(game: Game, input: PlayWorld['input'], print: (text: string) => void): Promise<void> {
  const { playYourself } = await import('../play/index.js')
  const isTerminal = input.isTTY === true
  const lines = createInterface({ input, output: isTerminal ? process.stdout : undefined, prompt: '> ' })
  // Ctrl-C ends the game like :quit, so that the world is closed.
  lines.on('SIGINT', () => lines.close())
  // From here on: what a pipe holds comes at once, and the world may take its time to begin.
  const waiting = lines[Symbol.asyncIterator]()
  async function* typed() {
    for await (const line of waiting) {
      // What comes through a pipe is nowhere on the screen.
      if (!isTerminal) print(`> ${line}`)
      yield line
    }
  }
  if (isTerminal) print(pc.dim('a line is an action, :help lists the commands'))
  try {
    await playYourself(game, { lines: typed(), print, ask: () => isTerminal && lines.prompt() })
  } finally {
    lines.close()
  }
}

async function watchModel(
  game: Game,
  options: PlayOptions & { model: string },
  print: (text: string) => void,
  signal: AbortSignal,
): Promise<void> {
  const [{ watch, summary }, { playerOf }, { withModels }] = await Promise.all([
    import('../play/watch.js'),
    import('../play/model.js'),
    import('../run/one-model.js'),
  ])
  const episodes = wholeNumber('--episodes', options.episodes, 1, 1)
  const how = {
    model: options.model,
    temperature: decimal('--temperature', options.temperature, 0),
    maxTokens: wholeNumber('--max-tokens', options.maxTokens, 512, 1),
    seed: wholeNumber('--seed', options.seed, 0),
  }
  const note = (text: string) => void process.stderr.write(`${pc.dim(text)}\n`)
  await withModels({ note, signal }, async (open) => {
    const player = playerOf(await open(how))
    const watched = await watch(game, { episodes, player, print, quiet: options.quiet })
    if (episodes > 1) print(summary(watched))
  })
}

/** Ctrl-C while a model plays. */
function interrupted(whileWatching: boolean): AbortSignal {
  const control = new AbortController()
  if (whileWatching) process.once('SIGINT', () => control.abort(new TrinityError('cli/interrupted', 'interrupted')))
  return control.signal
}

function argsOf(name: string, pairs: readonly string[]): Record<string, unknown> {
  const { args } = environments.get(name)
  return Object.fromEntries(
    pairs.map((pair) => {
      const at = pair.indexOf('=')
      if (at < 1) {
        throw new TrinityError('cli/usage', `--args ${pair} gives no value`, {
          path: '--args',
          hint: 'write --args name=value, several of them one after the other',
        })
      }
      const key = pair.slice(0, at)
      return [key, readValue(args, key, pair.slice(at + 1), `--args ${key}`)]
    }),
  )
}

function rowOf(text: string | undefined): DataRow | undefined {
  if (text === undefined) return undefined
  let row: unknown
  try {
    row = JSON.parse(text)
  } catch (error) {
    throw new TrinityError('cli/usage', `--row is not JSON: ${messageOf(error)}`, {
      path: '--row',
      hint: `write --row '{"seed": 3}'`,
    })
  }
  if (typeof row === 'object' && row !== null && !Array.isArray(row)) return row as DataRow
  throw new TrinityError('cli/usage', '--row must be a JSON object', {
    path: '--row',
    hint: `as in --row '{"seed": 3}'`,
  })
}
