import { createRequire } from 'node:module'
import type { RE2JS } from 're2js'

const require = createRequire(import.meta.url)
const compiled = new Map<string, RE2JS>()

/**
 * Whether the pattern matches from the start of the response; dots match line ends. Takes time in proportion to the
 * response, whatever the pattern: a model would sooner or later write the text on which backtracking takes for ever.
 */
export function matchesFromStart(pattern: string, response: string): boolean {
  return compile(pattern).test(response)
}

/** What is wrong with a pattern, in one line; `undefined` when it can be matched. */
export function patternProblem(pattern: string): string | undefined {
  try {
    // Brackets that do not match must not close the group that holds the pattern to the start.
    new RegExp(pattern, 's')
  } catch {
    return 'not a regular expression'
  }
  try {
    compile(pattern)
    return undefined
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message.replace(/^error parsing regexp: /, '') : String(cause)
    return `not a regular expression that can be matched in linear time (${reason}): look-ahead, look-behind, back-references and counts over 1000 cannot be used`
  }
}

function compile(pattern: string): RE2JS {
  let regex = compiled.get(pattern)
  if (regex === undefined) {
    // Loaded only where a pattern is used: it takes longer to load than most commands run.
    const { RE2JS } = require('re2js') as typeof import('re2js')
    const flags = RE2JS.DOTALL | RE2JS.MULTILINE
    regex = RE2JS.compile(`\\A(?:${RE2JS.translateRegExp(pattern)})`, flags)
    compiled.set(pattern, regex)
  }
  return regex
}
