import { TrinityError } from '../error.js'
import { currentScope, PLACEHOLDER, type Scope } from './scope.js'

let isInstalled = false

/**
 * From now on requests to PLACEHOLDER go to the model of the rollout that makes them, and so do requests to the model of
 * another rollout: libraries keep the first client that they make.
 */
export function installFetch(): void {
  if (isInstalled) return
  isInstalled = true
  const original = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    const target = currentScope()?.target
    const path = pathBelow(url, target)
    if (path === undefined) return original(input, init)
    if (!target) return Promise.reject(outside())
    const request = new Request(input instanceof Request ? input : url, init)
    return original(redirected(request, path, target))
  }
}

/** Where the models of rollouts have been: a server may have been closed and opened somewhere else. */
const places = new Set<string>()

type Target = NonNullable<Scope['target']>

/** What of an address is the model's to understand, where it has to be changed. */
function pathBelow(url: string, target: Target | undefined): string | undefined {
  if (url.startsWith(`${PLACEHOLDER}/`)) return url.slice(PLACEHOLDER.length)
  if (!target) return undefined
  const siblings = target.url.slice(0, target.url.lastIndexOf('/') + 1)
  places.add(siblings)
  if (url.startsWith(`${target.url}/`)) return undefined
  for (const place of places) {
    const end = url.startsWith(place) ? url.indexOf('/', place.length) : -1
    if (end >= 0) return url.slice(end)
  }
  return undefined
}

function redirected(request: Request, path: string, { url, key }: Target): Request {
  const moved = new Request(url + path, request)
  if (moved.headers.has('x-api-key')) moved.headers.set('x-api-key', key)
  else moved.headers.set('authorization', `Bearer ${key}`)
  return moved
}

function outside(): TrinityError {
  return new TrinityError('agent/outside', 'the model was called outside of a rollout', {
    hint: 'call it in the function that is given to agent(), and wait for the answer there',
  })
}
