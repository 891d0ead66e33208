/** libuv's numbers are those of the system. */
import { constants } from 'node:os'

/**
 * Tells of signals in a thread that is not the main one. Node's own way (`process.on`) exists in the main thread only, and
 * that one does not listen while it is blocked. Where Node does not have the binding any more, nothing is told.
 */
export function onSignals(names: readonly ('SIGINT' | 'SIGTERM')[], tell: (name: 'SIGINT' | 'SIGTERM') => void): void {
  // the binding is old, and says so on the terminal otherwise
  process.noDeprecation = true
  try {
    const { Signal } = (process as unknown as { binding(name: string): SignalBinding }).binding('signal_wrap')
    for (const name of names) {
      const handle = new Signal()
      handle.unref()
      handle.onsignal = () => tell(name)
      handle.start(constants.signals[name])
    }
  } catch {
    // the deadline holds all the same
  }
}

interface SignalBinding {
  Signal: new () => { unref(): void; start(signal: number): number; onsignal: () => void }
}
