/** Texts side by side, each under its title, wrapped at words. */
export function columns(parts: readonly { title: string; text: string }[], width: number): string {
  const gap = 3
  const each = Math.max(16, Math.floor((width - gap * (parts.length - 1)) / parts.length))
  const wrapped = parts.map(({ title, text }) => [cut(title, each), '─'.repeat(each), ...wrap(text, each)])
  const height = Math.max(...wrapped.map((lines) => lines.length))
  return Array.from({ length: height }, (_, row) =>
    wrapped
      .map((lines) => (lines[row] ?? '').padEnd(each))
      .join(' '.repeat(gap))
      .trimEnd(),
  ).join('\n')
}

/** The end of a path says more than its beginning. */
function cut(title: string, width: number): string {
  return title.length <= width ? title : `…${title.slice(1 - width)}`
}

export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines = ['']
    for (const word of line.split(' ')) {
      const last = lines[lines.length - 1]
      const longer = last === '' ? word : `${last} ${word}`
      if (longer.length <= width) lines[lines.length - 1] = longer
      else lines.push(word)
      // a word that is wider than the column
      for (let end = lines[lines.length - 1]; end.length > width; end = lines[lines.length - 1]) {
        lines.splice(-1, 1, end.slice(0, width), end.slice(width))
      }
    }
    return lines[0] === '' && lines.length > 1 ? lines.slice(1) : lines
  })
}
