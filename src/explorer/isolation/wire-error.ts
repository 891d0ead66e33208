import { messageOf, TrinityError } from '../../base/error.js'

/** An error on its way to another thread or process: what is thrown loses its class there. */
export interface WireError {
  readonly name: string
  readonly message: string
  /** Names the line of a plugin. */
  readonly stack?: string
  /** Only of a `TrinityError`. */
  readonly code?: string
  readonly path?: string
  readonly key?: string
  readonly hint?: string
}

export function toWireError(error: unknown): WireError {
  const message = messageOf(error)
  if (!(error instanceof Error)) return { name: 'Error', message }
  const { name, stack } = error
  if (!(error instanceof TrinityError)) return { name, message, stack }
  const { code, path, key, hint } = error
  return { name, message, stack, code, path, key, hint }
}

export function fromWireError({ name, message, stack, code, path, key, hint }: WireError): Error {
  const error =
    code === undefined
      ? Object.assign(new Error(message), { name })
      : new TrinityError(code, message, { path, key, hint })
  if (stack !== undefined) error.stack = stack
  return error
}
