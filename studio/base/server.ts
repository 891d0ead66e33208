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
}

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
  let response: Response
  try {
    response = await fetch(address(path, query), { signal, headers: { accept: 'application/json' } })
  } catch (error) {
    if (signal?.aborted) throw error
    throw new Refusal(
      0,
      'Studio does not answer.',
      'Start `trinity studio` again, and open the address that it prints.',
    )
  }
  if (response.ok) return (await response.json()) as Answer
  throw await refusalOf(response)
}

async function refusalOf(response: Response): Promise<Refusal> {
  if (response.status === 401)
    return new Refusal(401, 'This page has no key.', 'Open the address that `trinity studio` has printed.')
  const body = (await response.json().catch(() => undefined)) as ApiError | undefined
  return new Refusal(
    response.status,
    body?.error.message ?? `The server answered with ${response.status}.`,
    body?.error.hint,
  )
}
