import { classOf, portHint } from './class-path.js'
import { nearest } from './nearest.js'

/** What to do about a name that nothing has. */
export function unknownHint(name: string, known: readonly string[]): string {
  const own = classOf(name)
  const near = nearest(own ?? name, known)
  const meant = near ? `did you mean '${near}'? ` : ''
  return `${meant}${own ? `${portHint(own)}; ` : ''}known: ${known.join(', ')}`
}
