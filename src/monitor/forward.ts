import type { RunView } from './view.js'

/** A view that hands everything on, for somebody who wants to listen to a part of it. */
export function forward(view: RunView): RunView {
  return {
    expect: (role, steps) => view.expect?.(role, steps),
    phase: (role, what) => view.phase(role, what),
    metrics: (role, step, metrics) => view.metrics(role, step, metrics),
    examples: (role, step, experiences) => view.examples?.(role, step, experiences),
    note: (text) => view.note(text),
    end: (summary) => view.end(summary),
    close: () => view.close(),
  }
}
