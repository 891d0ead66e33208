import { redact } from '../../base/secret/index.js'
import { visibleLine } from '../../base/terminal/visible.js'
import { beginning, endOf, widthOf } from '../../base/terminal/width.js'
import type { Experience } from '../../experience/index.js'
import { figure } from './number.js'

/** An answer for people to look at, in texts that a terminal may show. */
export interface Example {
  /** `best` and `worst`; `answer` where they are the same. */
  readonly label: string
  readonly step: number
  readonly reward: string
  readonly question: string
  readonly answer: string
}

/** Nobody reads more of it in a terminal; from the end as much as from the beginning, where the result often is. */
const LONGEST = 2000

/** Of the worst and the best of a step: the best first. Those without a text are left out. */
export function examplesOf(step: number, extremes: readonly Experience[]): Example[] {
  const [worst, best] = extremes
  const labeled: [string, Experience | undefined][] = best
    ? [
        ['best', best],
        ['worst', worst],
      ]
    : [['answer', worst]]
  return labeled.flatMap(([label, experience]) => {
    if (!experience?.responseText) return []
    const reward = experience.reward === undefined ? 'no reward' : figure(experience.reward)
    return [{ label, step, reward, question: line(questionOf(experience)), answer: line(experience.responseText) }]
  })
}

/** The last thing that was said to the model; its whole prompt where messages were not kept. */
function questionOf({ messages = [], promptText = '' }: Experience): string {
  const said = messages.findLast(({ role }) => role === 'user')?.content
  return typeof said === 'string' ? said : promptText
}

function line(text: string): string {
  const half = LONGEST / 2
  return visibleLine(redact(text.length <= LONGEST ? text : `${text.slice(0, half)} … ${text.slice(-half)}`))
}

/** A text without its middle where it is too wide. */
export function ends(text: string, width: number): string {
  if (widthOf(text) <= width || width < 12) return beginning(text, width)
  const begin = beginning(text, Math.floor((width - 2) / 2))
  return `${begin.trimEnd()} ${endOf(text, width - 1 - widthOf(begin.trimEnd()))}`
}
