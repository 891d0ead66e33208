import { TrinityError } from '../../base/error.js'

/** Longest part of a pattern in a message. */
const LONGEST = 200

/** A glob of a data card as a regular expression: `*` and `?` stay inside one folder, `**` crosses folders. */
export function globToRegExp(glob: string): RegExp {
  let pattern = ''
  for (let i = 0; i < glob.length; i++) {
    const char = glob[i]
    if (char === '*') {
      if (glob.startsWith('**/', i)) {
        pattern += '(?:.*/)?'
        i += 2
      } else if (glob[i + 1] === '*') {
        pattern += '.*'
        i++
      } else pattern += '[^/]*'
    } else if (char === '?') pattern += '[^/]'
    else if (char === '[' && glob.indexOf(']', i) > i) {
      const end = glob.indexOf(']', i)
      pattern += glob.slice(i, end + 1).replace('[!', '[^')
      i = end
    } else if (char === '{' && glob.indexOf('}', i) > i) {
      const end = glob.indexOf('}', i)
      pattern += `(?:${glob
        .slice(i + 1, end)
        .split(',')
        .map(escaped)
        .join('|')})`
      i = end
    } else pattern += escaped(char)
  }
  try {
    return new RegExp(`^${pattern}$`)
  } catch (cause) {
    throw new TrinityError('data/pattern', `a pattern of files that cannot be read: ${glob.slice(0, LONGEST)}`, {
      hint: 'in brackets write ranges from the lower to the higher character, such as [0-9]',
      cause,
    })
  }
}

function escaped(text: string): string {
  return text.replace(/[.+^${}()|[\]\\]/g, '\\$&')
}
