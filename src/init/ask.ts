import { type Answers, answerTo, defaultAnswer, QUESTIONS } from './answers.js'

/** What was said on the command line. */
export type Given = Partial<Record<keyof typeof QUESTIONS | 'model' | 'data' | 'promptKey' | 'responseKey', string>>

/** Asks somebody and gives what they typed; undefined: there is nobody to ask, and defaults are taken. */
export type Asker = (text: string) => Promise<string>

/** Answers to the questions: those that were given, then those of the person, then the defaults. */
export async function answersOf(given: Given, ask?: Asker): Promise<Answers> {
  const have = await choose('have', given.have ?? (given.data === undefined ? undefined : 'data'), ask)
  const sdk = have === 'agent' ? await choose('sdk', given.sdk, ask) : answerTo('sdk', given.sdk ?? 'none')
  const where = await choose('where', given.where, ask)
  const data = given.data ?? (have === 'data' ? await words(FILE, ask) : undefined)
  const wantsModel = where === 'gpu' || data !== undefined
  let { model } = given
  while (ask && wantsModel && model === undefined) model = await words(MODEL, ask)
  return { have, sdk, where, model, data, promptKey: given.promptKey, responseKey: given.responseKey }
}

const FILE = 'File with questions and answers, such as .jsonl, .csv or .parquet (empty: sums to begin with): '
const MODEL = 'Model, a directory or an id on a hub: '

async function words(text: string, ask?: Asker): Promise<string | undefined> {
  return (await ask?.(text))?.trim() || undefined
}

async function choose<Q extends keyof typeof QUESTIONS>(question: Q, given: string | undefined, ask?: Asker) {
  if (given !== undefined) return answerTo(question, given)
  if (!ask) return defaultAnswer(question)
  const { text, answers } = QUESTIONS[question]
  const names = Object.keys(answers)
  const lines = Object.values<string>(answers).map((answer, at) => `  ${at + 1} ${answer}`)
  for (let before = ''; ; before = `Type a number from 1 to ${names.length}.\n`) {
    const said = (await ask(`${before}${text}\n${lines.join('\n')}\n[1] `)).trim()
    try {
      return answerTo(question, names[Number(said || 1) - 1] ?? said)
    } catch {
      // asked again
    }
  }
}
