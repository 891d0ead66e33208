import type { PastTurn, Persona, Turn } from '../../environment.js'
import { goalIn, NOTHING_HAPPENS } from '../world.js'
import { failed } from './transitions.js'
import type { Manner } from './trinity.js'

/** Actions of the past that a prompt repeats. */
const RECENT = 4
/** So often in a row the same action is too much. */
const SAME = 3

const REMINDER =
  'Choose one of these actions. Think in <think>…</think>, then give the action in <action>…</action>; both are needed.'

/** The R3L study's: the possible actions stand in the prompt; a bad form, an impossible or an endless action ends it. */
export function r3l({ commands, failure }: Manner): Persona {
  return {
    system: ({ maxSteps }) => rules(commands, maxSteps),
    prompt: (turn) => (turn.past.length === 0 ? first(turn) : later(turn)),
    action: (reply, turn) => {
      const action = readAction(reply)
      if (action === undefined) return failed('The reply does not have the form that was asked for.', failure)
      if (turn.admissible && !turn.admissible.includes(action)) return failed(NOTHING_HAPPENS, failure)
      if (isStuck(turn.past, action)) return failed(`The action '${action}' was repeated ${SAME} times.`, failure)
      return action
    },
  }
}

/** Each tag once, the thought and the action; undefined where it is otherwise. */
export function readAction(reply: string): string | undefined {
  const thoughts = [...reply.matchAll(/<think>\s*([\s\S]*?)\s*<\/think>/g)]
  const actions = [...reply.matchAll(/<action>\s*([\s\S]*?)\s*<\/action>/g)]
  return thoughts.length === 1 && actions.length === 1 ? actions[0][1].trim() : undefined
}

/** It would be the same action several times in a row; no action is one, too. */
export function isStuck(past: readonly PastTurn[], action: string): boolean {
  const last = past.slice(1 - SAME)
  return last.length === SAME - 1 && last.every((turn) => (turn.action ?? '') === action)
}

function rules(commands: string, maxSteps: number): string {
  return `You are an agent that does housework in a world of text.

Every reply has two parts, in this order, and both tags are required:
<think>your reasoning</think>
<action>one command</action>

Commands:
${commands}

Two replies that have the right form:
<think>I need a clean plate. Plates are often in cabinets, so I look there first.</think>
<action>go to cabinet 1</action>

<think>The fridge is closed. To see what is in it I have to open it.</think>
<action>open fridge 1</action>

Rules:
- You can hold one object at a time.
- Look before you act: examine a place to know what is there.
- Use names exactly as they are shown, with their numbers.
- Split the task into small goals and reach one after the other.
- You have at most ${maxSteps} steps.`
}

function first({ observation, admissible }: Turn): string {
  return `${observation}

Possible actions: ${quoted(admissible)}

${REMINDER}`
}

function later({ goal, observation, admissible, past, step }: Turn): string {
  const recent = past.slice(-RECENT)
  const lines = recent.map(({ action }, at) => `Step ${step - recent.length + at}: ${action ?? ''}`)
  return `Your task: ${goal ?? goalIn(past[0].observation)}
You have taken ${step} ${step === 1 ? 'step' : 'steps'}. Your last actions:
${lines.join('\n')}

This is step ${step}. You see: ${observation}

Possible actions: ${quoted(admissible)}

${REMINDER}`
}

/** As Python shows a list of texts. */
function quoted(actions: readonly string[] = []): string {
  return `[${actions.map((action) => `'${action}'`).join(', ')}]`
}
