import type { ComponentChildren } from 'preact'
import type { Refusal } from '../base/server.js'

/** Nothing is here: why, and what to do next. */
export function Empty({ title, children }: { title: string; children?: ComponentChildren }) {
  return (
    <div class="empty">
      <h2>{title}</h2>
      {children}
    </div>
  )
}

export function Problem({ problem }: { problem: Refusal }) {
  return (
    <div class="empty problem" role="alert">
      <h2>{problem.message}</h2>
      {problem.hint && <p>{problem.hint}</p>}
    </div>
  )
}
