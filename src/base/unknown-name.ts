import { classOf, portHint } from './class-path.js'
import { nearest } from './nearest.js'

/** A list that is longer helps nobody. */
const MOST = 40

/** What to do about a name that nothing has. */
export function unknownHint(name: string, known: readonly string[]): string {
  const own = classOf(name)
  const near = nearest(own ?? name, known)
  const meant = near ? `did you mean '${near}'? ` : ''
  const names = known.length > MOST ? `any of ${known.length} in the docs` : known.join(', ')
  return `${meant}${own ? `${portHint(own)}; ` : ''}known: ${names}; a file of your own is loaded with --plugin-dir`
}
