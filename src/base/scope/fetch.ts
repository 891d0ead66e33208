import { TrinityError } from '../error.js'
import { currentScope, PLACEHOLDER, type Scope } from './scope.js'

let isInstalled = false

/** From now on requests to PLACEHOLDER go to the model of the rollout that makes them. */
export function installFetch(): void {
  if (isInstalled) return
  isInstalled = true
  const original = globalThis.fetch
  globalThis.fetch = (input, init) => {
    const url = input instanceof Request ? input.url : String(input)
    if (!url.startsWith(`${PLACEHOLDER}/`)) return original(input, init)
    const target = currentScope()?.target
    if (!target) return Promise.reject(outside())
    const request = new Request(input instanceof Request ? input : url, init)
    return original(redirected(request, target))
  }
}

function redirected(request: Request, { url, key }: NonNullable<Scope['target']>): Request {
  const moved = new Request(url + request.url.slice(PLACEHOLDER.length), request)
  if (moved.headers.has('x-api-key')) moved.headers.set('x-api-key', key)
  else moved.headers.set('authorization', `Bearer ${key}`)
  return moved
}

function outside(): TrinityError {
  return new TrinityError('agent/outside', 'the model was called outside of a rollout', {
    hint: 'call it in the function that is given to agent(), and wait for the answer there',
  })
}
