import type { ApiError } from '../../src/studio/api.js'

/** What the server could not do, in its words. */
export class Refusal extends Error {
  constructor(
    readonly status: number,
    message: string,
    readonly hint?: string,
  ) {
    super(message)
  }

  /** Something else is in its place already, which may be replaced. */
  get isTaken(): boolean {
    return this.status === 409
  }
}

/** Whatever was thrown, as something to show. */
export const refusalOf = (error: unknown) => (error instanceof Refusal ? error : new Refusal(0, String(error)))

type Value = string | number | boolean | undefined | readonly string[]

export function address(path: string, query: object = {}): string {
  const search = new URLSearchParams()
  for (const [key, value] of Object.entries(query) as [string, Value][]) {
    if (value === undefined || value === '') continue
    for (const one of Array.isArray(value) ? value : [value]) search.append(key, String(one))
  }
  const text = search.toString()
  return `/api/${path}${text && `?${text}`}`
}

export const runPath = (run: string, rest = '') => `runs/${encodeURIComponent(run)}${rest && `/${rest}`}`

export async function get<Answer>(path: string, query: object = {}, signal?: AbortSignal): Promise<Answer> {
  const response = await ask(address(path, query), { signal, headers: { accept: 'application/json' } })
  return (await response.json()) as Answer
}

/** Something happens. */
export async function post<Answer>(path: string, body: object, signal?: AbortSignal): Promise<Answer> {
  const response = await ask(address(path), { signal, ...posted(body, 'application/json') })
  return (await response.json()) as Answer
}

/** The same, with parts of the answer as they come. */
export async function postLines<Answer, Part>(
  path: string,
  body: object,
  onPart: (part: Part) => void,
  signal?: AbortSignal,
): Promise<Answer> {
  const response = await ask(address(path), { signal, ...posted(body, 'application/x-ndjson') })
  let rest = ''
  for await (const text of textsOf(response)) {
    const lines = (rest + text).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) {
      const told = JSON.parse(line) as { part?: Part; result?: Answer; error?: ApiError['error'] }
      if (told.error !== undefined) throw new Refusal(500, told.error.message, told.error.hint)
      if (told.result !== undefined) return told.result
      if (told.part !== undefined) onPart(told.part)
    }
  }
  throw new Refusal(0, 'The answer broke off.', 'Try again.')
}

async function* textsOf({ body }: Response): AsyncGenerator<string> {
  const reader = body!.pipeThrough(new TextDecoderStream()).getReader()
  for (let next = await reader.read(); !next.done; next = await reader.read()) yield next.value
}

const posted = (body: object, accept: string) => ({
  method: 'POST',
  headers: { accept, 'content-type': 'application/json' },
  body: JSON.stringify(body),
})

async function ask(url: string, init: RequestInit): Promise<Response> {
  let response: Response
  try {
    response = await fetch(url, init)
  } catch (error) {
    if (init.signal?.aborted) throw error
    throw new Refusal(
      0,
      'Studio does not answer.',
      'Start `trinity studio` again, and open the address that it prints.',
    )
  }
  if (response.ok) return response
  throw await answered(response)
}

async function answered(response: Response): Promise<Refusal> {
  if (response.status === 401)
    return new Refusal(401, 'This page has no key.', 'Open the address that `trinity studio` has printed.')
  const body = (await response.json().catch(() => undefined)) as ApiError | undefined
  return new Refusal(
    response.status,
    body?.error.message ?? `The server answered with ${response.status}.`,
    body?.error.hint,
  )
}
