import { endOf, padTo } from '../base/terminal/width.js'
import { wrap } from '../base/terminal/wrap.js'

/** Texts side by side, each under its title, wrapped at words. */
export function columns(parts: readonly { title: string; text: string }[], width: number): string {
  const gap = 3
  const each = Math.max(16, Math.floor((width - gap * (parts.length - 1)) / parts.length))
  // the end of a path says more than its beginning
  const wrapped = parts.map(({ title, text }) => [endOf(title, each), '─'.repeat(each), ...wrap(text, each)])
  const height = Math.max(...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    wrapped
      .map((lines) => padTo(lines[row] ?? '', each))
      .join(' '.repeat(gap))
      .trimEnd(),
  ).join('\n')
}
