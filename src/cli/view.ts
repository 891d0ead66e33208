import type { Resolved } from '../config/index.js'
import type { RunView } from '../monitor/view.js'

/** Plain lines. */
export function openView(_resolved: Resolved): RunView {
  const line = (text: string) => void process.stdout.write(`${text}\n`)
  return {
    phase: () => {},
    metrics: (role, step, m) => line(`${role} ${step} ${JSON.stringify(m).slice(0, 150)}`),
    note: (text) => line(`note ${text}`),
    end: (summary) => line(JSON.stringify(summary)),
    close: () => {},
  }
}
