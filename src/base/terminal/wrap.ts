import { beginning, widthOf } from './width.js'

/** Lines of a text no wider than this, broken at blanks where possible. A command in backticks stays whole where it fits. */
export function wrap(text: string, width: number): string[] {
  return text.split('\n').flatMap((line) => {
    const lines = ['']
    for (const word of wordsOf(line, width)) {
      const last = lines[lines.length - 1]
      const longer = last === '' ? word : `${last} ${word}`
      if (widthOf(longer) <= width) lines[lines.length - 1] = longer
      else lines.push(word)
      // a word that is wider than the column
      for (let end = lines[lines.length - 1]; widthOf(end) > width; end = lines[lines.length - 1]) {
        const begin = beginning(end, width) || [...end][0]
        if (begin === end) break
        lines.splice(-1, 1, begin, end.slice(begin.length))
      }
    }
    return lines[0] === '' && lines.length > 1 ? lines.slice(1) : lines
  })
}

function wordsOf(line: string, width: number): string[] {
  if (!line.includes('`')) return line.split(' ')
  const words = line.match(/(?:`[^`]*`|[^ `]|`)+| /g) ?? ['']
  return words.filter((word) => word !== ' ').flatMap((word) => (widthOf(word) <= width ? [word] : word.split(' ')))
}
