/** A shell pattern (`*`, `?`, `[…]`, `\x`) as a regular expression; undefined when it is not a valid one. */
export function globToRegExp(glob: string, options: { whole?: boolean; global?: boolean } = {}): RegExp | undefined {
  // Long patterns with many stars are not worth the time a regular expression could take on them.
  if (glob.length > 200 || (glob.match(/\*/g)?.length ?? 0) > 4) return undefined
  let source = ''
  for (let i = 0; i < glob.length; i++) {
    const c = glob[i]
    if (c === '*') source += '[\\s\\S]*'
    else if (c === '?') source += '[\\s\\S]'
    else if (c === '\\') source += escapeRegExp(glob[++i] ?? '\\')
    else if (c === '[') {
      const end = glob.indexOf(']', i + 2)
      if (end < 0) source += '\\['
      else {
        const inside = glob
          .slice(i + 1, end)
          .replace(/^!/, '^')
          .replace(/\\/g, '\\\\')
          .replace(/\[/g, '\\[')
        source += `[${inside}]`
        i = end
      }
    } else source += escapeRegExp(c)
  }
  try {
    return new RegExp(options.whole ? `^(?:${source})$` : source, options.global ? 'g' : '')
  } catch {
    return undefined
  }
}

function escapeRegExp(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
