import type { Persona, Transition, Turn } from '../environment.js'
import { listText } from '../python-text.js'
import { firstTag } from '../reply.js'
import { type Controls, readAction } from './action.js'
import { refusal, type WorldArgs } from './world.js'

export type PersonaArgs = Omit<WorldArgs, 'show_attrs'> & { readonly end_on_invalid?: boolean }

/** What can be done on the page of a turn. */
function controlsOf({ admissible }: Turn): Controls {
  // Only the page with the search bar does not list its actions.
  if (!admissible) return { hasSearchBar: true, clickables: ['search'] }
  return { hasSearchBar: false, clickables: admissible.map((action) => action.slice('click['.length, -1)) }
}

const MARKERS = `\
A page is text. What can be clicked stands between markers: [button] x [button_], or [clicked button] x [clicked button_]
where it was clicked before.`

/**
 * As in the R3L study: both tags in order, the controls of the page in every prompt. A reply of another form ends the
 * visit, and so does the same action twice.
 */
export function studyPersona(args: PersonaArgs): Persona {
  const end = (why: string): Transition => ({
    ...refusal(why, args),
    done: true,
    score: args.unfinished_reward ?? args.invalid_reward,
  })
  return {
    system: ({ maxSteps }) => studyRules(maxSteps),
    prompt: (turn) => {
      const { hasSearchBar, clickables } = controlsOf(turn)
      const actions = `{'has_search_bar': ${hasSearchBar ? 'True' : 'False'}, 'clickables': ${listText(clickables)}}`
      return `Observation:\n${turn.observation}\n\nAvailable actions: ${actions}\n\n${REMINDER}`
    },
    action: (reply, turn) => {
      const said = taggedAction(reply)
      if (said === undefined) return end('The reply has no <think>...</think> followed by <action>...</action>.')
      const before = turn.past.at(-1)
      if (before && said === taggedAction(before.reply) && !/next|prev|search/i.test(said)) {
        return end(`The action ${said} was repeated.`)
      }
      const action = readAction(said, controlsOf(turn))
      if (action.kind !== 'invalid') return said
      return args.end_on_invalid ? end(action.why) : refusal(action.why, args)
    },
  }
}

/** The first action that comes after a thought. */
function taggedAction(reply: string): string | undefined {
  const thought = firstTag(reply, 'think')
  return thought && firstTag(reply, 'action', thought.end)?.text
}

const REMINDER = `Think first, then take one action: <think>...</think> <action>...</action>`

function studyRules(maxSteps: number): string {
  return `You shop in a web store that is made of text. Every visit begins with an instruction; find the product that fits it
best, choose the options that it names, and buy it, within ${maxSteps} steps.

There are two actions:
- search[words] searches for products; only on the page with the search bar
- click[name] clicks something that stands on the page

There are five kinds of pages:
- Search: the instruction and the search bar. search[...] leads to the results.
- Results: ten products of those found, with number, title and price. click[a product's number] opens it, click[Next >] and
  click[< Prev] turn the page, click[Back to Search] leads back.
- Product: its options, title, price and rating. click[an option] chooses it; click[Description], click[Features] and
  click[Reviews] tell more; click[< Prev] leads to the results, click[Buy Now] buys it with the options chosen.
- Details: a text about the product. click[< Prev] leads back to it.
- Done: after Buy Now the visit is over, and what was bought is compared with the instruction.

${MARKERS} The available actions say whether there is a search bar and what can be clicked now.

Answer with what you think and then with one action, always in these tags:
<think>what you see, and what to do next</think> <action>search[red running shoes]</action>
<think>this one fits, and it is cheap enough</think> <action>click[Buy Now]</action>`
}

/** As in Trinity-RFT: the page alone, only the action has a tag, and what is wrong with a reply is told. */
export function plainPersona(args: PersonaArgs): Persona {
  return {
    system: ({ maxSteps }) => plainRules(maxSteps),
    prompt: ({ observation }) => `Observation: ${observation}`,
    action: (reply, turn) => {
      const said = reply.split('<action>')[1]?.split('</action>')[0].trim() ?? ''
      const action = readAction(said, controlsOf(turn))
      return action.kind === 'invalid' ? refusal(action.why, args) : said
    },
  }
}

function plainRules(maxSteps: number): string {
  return `You act in a web store that is made of text. Find the instruction on the page, and go through the store to buy the
item that comes closest to it.

## Actions
An action is a name with an argument in brackets.
- Where the page shows [button] Search [button_], search with <action>search[your words]</action>.
- Whatever the page shows as [button] x [button_] can be clicked with <action>click[x]</action>.

Two examples: <action>search[white shoes]</action> and <action>click[Buy Now]</action>

## Rules
Think before every action. Put the thought between <think> and </think>, and the action between <action> and </action>.
Take exactly one action in each step. Buy the item within ${maxSteps} steps. Nobody answers questions: do all of it yourself.`
}
