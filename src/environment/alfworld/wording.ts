import type { Alternative, Twl2, Wording } from './text/twl2.js'

/** How to say that something is put down: as the game's file does, or as older or newer files do. */
export const WORDINGS = ['file', 'put', 'move'] as const
export type WordingName = (typeof WORDINGS)[number]

/** As the help of the game has it. */
export const PUT: Record<Exclude<WordingName, 'file'>, Wording & { readonly help: string }> = {
  put: {
    template: 'put {o} in/on {r}',
    feedback: 'You put the {o.name} in/on the {r.name}.',
    help: 'put (object) in/on (receptacle)',
  },
  move: {
    template: 'move {o} to {r}',
    feedback: 'You move the {o.name} to the {r.name}.',
    help: 'move (object) to (receptacle)',
  },
}

/** The texts of a game in another wording. */
export function reworded(texts: Twl2, name: WordingName): Twl2 {
  const own = texts.actions.get('putobject')
  if (name === 'file' || !own || own.template === PUT[name].template) return texts
  const { template, feedback, help } = PUT[name]
  const helped = (text: string) => text.replace(/(?:put|move) \(object\) (?:in\/on|to) \(receptacle\)/, help)
  const actions = new Map([...texts.actions, ['putobject', { template, feedback }]])
  const ask = actions.get('help')
  if (ask) actions.set('help', { ...ask, feedback: helped(ask.feedback) })
  const rules = new Map<string, readonly Alternative[]>(texts.rules)
  const answers = rules.get('help.feedback')
  if (answers) {
    rules.set(
      'help.feedback',
      answers.map((one) => ({ ...one, text: helped(one.text) })),
    )
  }
  return { actions, rules }
}

/** A command of either wording in the one that is wanted. */
export function rewordedCommand(command: string, name: WordingName): string {
  const [, object, receptacle] = /^(?:put (.+) in\/on|move (.+) to) (.+)$/
    .exec(command)
    ?.filter((part) => part !== undefined) ?? ['']
  if (name === 'file' || object === undefined) return command
  return name === 'put' ? `put ${object} in/on ${receptacle}` : `move ${object} to ${receptacle}`
}
