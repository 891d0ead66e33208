import { TrinityError } from '../base/error.js'

/** Aborted when the process is asked to end, by Ctrl-C or by SIGTERM. */
export function interrupted(): AbortSignal {
  const control = new AbortController()
  const end = (how: string) => () => control.abort(new TrinityError(`cli/${how}`, how))
  process.once('SIGINT', end('interrupted'))
  process.once('SIGTERM', end('terminated'))
  return control.signal
}
