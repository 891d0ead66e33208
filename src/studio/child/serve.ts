import { fromWireError, toWireError } from '../../explorer/isolation/wire-error.js'
import type { AskOptions, FromChild, Handlers, ToChild, Worker } from './message.js'

/** Makes this process a child of Studio: it does what it is asked as soon as it is ready, and ends with whoever asks. */
export function serve(handlers: Handlers, ready: Promise<void> = Promise.resolve()): void {
  const send = (message: FromChild) => void process.send?.(message)
  const work = new Map<number, AbortController>()
  process.on('message', (message: ToChild) => {
    if ('cancel' in message) return work.get(message.id)?.abort()
    const { id, method, params } = message
    const abort = new AbortController()
    work.set(id, abort)
    ready
      .then(() => handlers[method](params as never, (part) => send({ id, part }), abort.signal))
      .then(
        (result) => send({ id, result }),
        (error: unknown) => send({ id, error: toWireError(error) }),
      )
      .finally(() => work.delete(id))
  })
  process.on('disconnect', () => process.exit())
  // Ctrl-C in the terminal is the parent's to handle
  process.on('SIGINT', () => {})
}

/** The same without a process of its own. */
export function here(handlers: Handlers): Worker {
  return {
    async ask<T>(method: string, params: object, { onPart, signal }: AskOptions = {}): Promise<T> {
      const never = new AbortController().signal
      const copy = <V>(value: V): V => structuredClone(value)
      const tell = (part: unknown) => onPart?.(copy(part) as never)
      try {
        return copy((await handlers[method](copy(params) as never, tell, signal ?? never)) as T)
      } catch (error) {
        throw fromWireError(toWireError(error))
      }
    },
    close: async () => {},
  }
}
