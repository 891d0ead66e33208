import { TrinityError } from '../base/error.js'
import { type Answers, answerTo, defaultAnswer, QUESTIONS } from './answers.js'
import { type Columns, columnsOf, usualColumn } from './columns.js'
import { checkRows, readDataFile } from './data-file.js'
import { modelPath } from './model-path.js'

/** What was said on the command line. */
export type Given = Partial<Record<keyof typeof QUESTIONS | 'model' | 'data' | 'promptKey' | 'responseKey', string>>

/** Asks somebody and gives what they typed; undefined: there is nobody to ask, and defaults are taken. */
export type Asker = (text: string) => Promise<string>

/** Answers to the questions: those that were given, then those of the person, then the defaults. */
export async function answersOf(given: Given, ask?: Asker): Promise<Answers> {
  if (given.model !== undefined) modelPath(given.model, '.')
  const have = await choose('have', given.have ?? (given.data === undefined ? undefined : 'data'), ask)
  const sdk = have === 'agent' ? await choose('sdk', given.sdk, ask) : answerTo('sdk', given.sdk ?? 'none')
  const table = have === 'data' ? await tableOf(given, ask) : { data: given.data }
  const where = await choose('where', given.where, ask)
  const wantsModel = where === 'gpu' || table.data !== undefined
  const model = given.model ?? (ask && wantsModel ? await checked(MODEL, ask, modelOrAgain) : undefined)
  return { have, sdk, where, model, promptKey: given.promptKey, responseKey: given.responseKey, ...table }
}

const FILE = 'File with questions and answers, such as .jsonl, .csv or .parquet: '
const MODEL = 'Model, a directory or an id on a hub: '

async function modelOrAgain(model: string): Promise<string> {
  modelPath(model, '.')
  return model
}

/** The file of a data project and its columns, which are asked for where their names say nothing. */
async function tableOf(given: Given, ask?: Asker): Promise<Pick<Answers, 'data' | 'promptKey' | 'responseKey'>> {
  const read = async (data: string) => {
    const file = await readDataFile(data)
    const column = async (what: keyof Columns, named: string | undefined) => {
      if (named !== undefined || !ask || usualColumn(what, file) !== undefined) return named
      const text = `Which column holds the ${what === 'prompt' ? 'questions' : 'answers'}?`
      return pick(text, file.columns, ask, (said) => file.columns.find((one) => one === said))
    }
    const promptKey = await column('prompt', given.promptKey)
    const responseKey = await column('response', given.responseKey)
    checkRows(file, columnsOf(file, { prompt: promptKey, response: responseKey }))
    return { data, promptKey, responseKey }
  }
  if (given.data !== undefined) return read(given.data)
  return ask ? checked(FILE, ask, read) : {}
}

/** Asks until the answer can be used, and says why one cannot. */
async function checked<T>(text: string, ask: Asker, use: (said: string) => Promise<T>): Promise<T> {
  for (let before = ''; ; ) {
    const said = (await ask(`${before}${text}`)).trim()
    if (said === '') continue
    try {
      return await use(said)
    } catch (error) {
      if (!(error instanceof TrinityError) || error.code === 'cli/interrupted') throw error
      before = `${error.message}${error.hint === undefined ? '' : `\n  ${error.hint}`}\n`
    }
  }
}

async function choose<Q extends keyof typeof QUESTIONS>(question: Q, given: string | undefined, ask?: Asker) {
  if (given !== undefined) return answerTo(question, given)
  if (!ask) return defaultAnswer(question)
  const { text, answers } = QUESTIONS[question]
  const names = Object.keys(answers)
  return pick(text, Object.values<string>(answers), ask, (said, at) => {
    try {
      return answerTo(question, names[at] ?? said)
    } catch {
      return undefined // asked again
    }
  })
}

/** One of several lines, by its number or as `meant` understands it. */
async function pick<T>(
  text: string,
  choices: readonly string[],
  ask: Asker,
  meant: (said: string, at: number) => T | undefined,
): Promise<T> {
  const lines = choices.map((choice, at) => `  ${at + 1} ${choice}`)
  for (let before = ''; ; before = `Type a number from 1 to ${choices.length}.\n`) {
    const said = (await ask(`${before}${text}\n${lines.join('\n')}\n[1] `)).trim()
    const at = Number(said || 1) - 1
    const answer = meant(choices[at] ?? said, at)
    if (answer !== undefined) return answer
  }
}
