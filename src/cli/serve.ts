import { once } from 'node:events'
import pc from 'picocolors'
import { messageOf, TrinityError } from '../base/error.js'
import { manyListeners } from '../base/link-signals.js'
import type { Logger } from '../base/log/logger.js'
import { interrupted } from './interrupted.js'
import { modelName } from './model-name.js'
import { checkSet, modelOf } from './model-of.js'
import { decimal, wholeNumber } from './number.js'
import type { ExitCode } from './print.js'

export interface ServeOptions {
  host?: string
  port?: string
  apiKeyEnv?: string
  name?: string
  temperature?: string
  maxTokens?: string
  seed?: string
  strict?: boolean
  set?: string[]
}

/** What tests replace. */
export interface ServeWorld {
  readonly env: Readonly<Record<string, string | undefined>>
  readonly print: (text: string) => void
  /** Ends the server. */
  readonly signal: AbortSignal
}

/** `trinity serve`: a model directory, or what a run has trained, behind the APIs that agents speak. Nothing is recorded. */
export async function serve(
  model: string,
  options: ServeOptions,
  { env = process.env, print = say, signal = interrupted() }: Partial<ServeWorld> = {},
): Promise<ExitCode> {
  const how = {
    temperature: decimal('--temperature', options.temperature, 1),
    maxTokens: wholeNumber('--max-tokens', options.maxTokens, 1024, 1),
    seed: wholeNumber('--seed', options.seed, 0),
  }
  checkSet([model], options.set)
  const port = wholeNumber('--port', options.port, 8000, 0, 65535)
  const apiKey = keyIn(env, options.apiKeyEnv)
  const note = (text: string) => void process.stderr.write(`${pc.dim(text)}\n`)
  const [{ Gateway, isLoopback }, { withModels }] = await Promise.all([
    import('../gateway/index.js'),
    import('../run/one-model.js'),
  ])
  if (!isLoopback(options.host ?? '127.0.0.1') && apiKey === undefined) {
    throw new TrinityError('cli/usage', `--host ${options.host} lets others in: a key is needed`, {
      path: '--host',
      hint: 'name a variable that holds one with --api-key-env, or leave out --host',
    })
  }
  // what a client waits for comes to its end; only loading does not
  const loading = manyListeners(new AbortController())
  await withModels({ note, signal: loading.signal }, async (openModel, closers) => {
    const dir = await modelOf(model, { set: options.set, note })
    const stopLoading = () => loading.abort(signal.reason)
    signal.addEventListener('abort', stopLoading)
    const name = options.name ?? modelName(model, dir)
    const newConversation = await openModel({ ...how, model: dir, name })
    signal.removeEventListener('abort', stopLoading)
    let conversations = 0
    const open = () => {
      const one = newConversation('serve', conversations++)
      one.refuseLong()
      return { model: one, unknownFields: options.strict ? ('refuse' as const) : undefined }
    }
    const gateway = await Gateway.open({
      ...{ host: options.host, port, apiKey, visitors: { open, models: [name] } },
      logger: noteLogger(note),
    })
    closers.add(gateway)
    print(`${name} is served at ${gateway.url}/v1`)
    if (!signal.aborted) await once(signal, 'abort')
    const { callsInFlight } = gateway.stats
    if (callsInFlight > 0) note(`${callsInFlight} calls are under way: the server waits for them; Ctrl-C again ends it`)
    await gateway.drain()
  })
  return 0
}

function keyIn(env: ServeWorld['env'], variable: string | undefined): string | undefined {
  if (variable === undefined || env[variable]) return variable && env[variable]
  throw new TrinityError('cli/usage', `the environment variable ${variable} holds no key`, {
    path: '--api-key-env',
    hint: `export ${variable}=… first`,
  })
}

/** Warnings for the terminal. Failures reach the client. */
function noteLogger(note: (text: string) => void): Logger {
  return { debug() {}, info() {}, warn: note, error: (text, cause) => note(`${text}: ${messageOf(cause)}`) }
}

function say(text: string): void {
  process.stdout.write(`${text}\n`)
}
