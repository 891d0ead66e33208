import type { WireError } from '../../explorer/isolation/wire-error.js'

/** From the server to a child of it. */
export type ToChild =
  | { readonly id: number; readonly method: string; readonly params: unknown }
  /** Nobody waits for it any more. */
  | { readonly id: number; readonly cancel: true }

/** And back: any number of parts, then a result or an error. */
export type FromChild =
  | { readonly id: number; readonly part: unknown }
  | { readonly id: number; readonly result: unknown }
  | { readonly id: number; readonly error: WireError }

/** What a child can do. */
export type Handlers = Readonly<Record<string, Handler>>
export type Handler = (params: never, tell: (part: unknown) => void, signal: AbortSignal) => Promise<unknown>

/** What else is told while one waits for an answer. */
export interface AskOptions {
  readonly onPart?: (part: never) => void
  readonly signal?: AbortSignal
}

/** Somebody who does work elsewhere: a child, or in tests the work itself. */
export interface Worker {
  ask<T>(method: string, params: object, options?: AskOptions): Promise<T>
  close(): Promise<void>
}
