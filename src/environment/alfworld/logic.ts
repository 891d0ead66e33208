import { type Domain, readDomain } from './pddl/domain.js'
import { Grammar, type Writer } from './text/grammar.js'
import { Placeholders } from './text/query.js'
import { broken, readTwl2 } from './text/twl2.js'
import { reworded, type WordingName } from './wording.js'

/** How an action reads: the command for it and what is told afterwards. */
export interface ActionText {
  readonly command: Writer
  readonly feedback: Writer
  /** Placeholders of the action's parameters. */
  readonly placeholders: readonly number[]
  /** Places of the parameters that the command mentions; undefined: it also depends on what has happened. */
  readonly mentioned?: readonly number[]
}

/** The rules of a world and its words: all that games have in common. */
export interface Logic {
  readonly domain: Domain
  /** What their texts talk about. */
  readonly placeholders: Placeholders
  readonly intro: Writer
  readonly texts: ReadonlyMap<string, ActionText>
}

/** Where the texts of a game come from. */
export interface LogicSource {
  readonly domain: string
  /** With the task's own text replaced by nothing. */
  readonly grammar: string
  readonly path: string
}

/** Most games of a data set share one; a hostile set cannot fill the memory. */
const KEPT = 16
const known = new Map<string, Logic>()

/** The logic of these texts; read once, then shared. */
export function logicOf({ domain, grammar, path }: LogicSource, wording: WordingName): Logic {
  const key = `${wording}\n${domain}\n${grammar}`
  let logic = known.get(key)
  known.delete(key)
  logic ??= readLogic({ domain, grammar, path }, wording)
  known.set(key, logic)
  if (known.size > KEPT) known.delete(known.keys().next().value!)
  return logic
}

function readLogic({ domain: text, grammar: words, path }: LogicSource, wording: WordingName): Logic {
  const domain = readDomain(text, path)
  const { actions, rules } = reworded(readTwl2(words, path), wording)
  const predicates = [...domain.predicates.keys()]
  const changing = new Set(domain.actions.flatMap(({ effects }) => effects.map(({ predicate }) => predicate)))
  const number = (name: string) => {
    const at = predicates.indexOf(name)
    if (at >= 0) return at
    const negated = name.startsWith('not_') ? predicates.indexOf(name.slice(4)) : -1
    return negated < 0 ? undefined : negated + predicates.length
  }
  const placeholders = new Placeholders()
  const grammar = new Grammar(rules, placeholders, number, path)
  const texts = new Map<string, ActionText>()
  for (const { name, parameters } of domain.actions) {
    const own = actions.get(name)
    if (!own) throw broken(`there are no texts for the action '${name}'`, path)
    const names = parameters.map((one) => one.name.slice(1))
    const isSettled = !/#/.test(own.template) && ![...changing].some((predicate) => own.template.includes(predicate))
    texts.set(name, {
      command: grammar.writer(own.template),
      feedback: grammar.writer(own.feedback),
      placeholders: parameters.map(({ type }, at) => placeholders.number(names[at], type)),
      ...(isSettled && { mentioned: names.flatMap((one, at) => (mentions(own.template, one) ? [at] : [])) }),
    })
  }
  return { domain, placeholders, intro: grammar.writer('#intro#'), texts }
}

function mentions(template: string, variable: string): boolean {
  return new RegExp(`\\b${variable}\\b`).test(template)
}
