import type { PastTurn, Persona, Transition, Turn } from '../environment.js'
import { firstTag } from '../reply.js'

/** So often in a row the same action is too much. */
const SAME = 3

const COMMANDS = `\
open OBJ / close OBJ: a container or a door
activate OBJ / deactivate OBJ: a device
connect OBJ to OBJ / disconnect OBJ: electrical parts
use OBJ [on OBJ]: a tool or a device
look around: the room you are in
examine OBJ: an object, in detail
look at OBJ: an object, or what is in a container
read OBJ: a note or a book
move OBJ to OBJ: into a container
pick up OBJ: into your inventory
pour OBJ into OBJ: a liquid
mix OBJ: what is in a container, chemically
teleport to LOC: into a room
focus on OBJ: say that this object is what the task is about
wait: ten steps pass
wait1: one step passes`

/** The R3L study's: a reply without both tags, in order, ends the episode without a reward, and so does going in circles. */
const r3l: Persona = {
  system: ({ maxSteps }) => `\
You are an agent that carries out experiments in a world of text, to fulfill a task of elementary science.

Every reply has two parts, in this order, and both tags are required:
<think>your reasoning</think>
<action>one command</action>

Commands (OBJ is an object, LOC a room):
${COMMANDS}

Three replies that have the right form:
<think>The task is about a metal pot, which I expect in the kitchen.</think>
<action>teleport to kitchen</action>

<think>The cupboard is closed, so I do not see what is in it.</think>
<action>open cupboard</action>

<think>I have found the substance that the task names, and have to say so.</think>
<action>focus on water</action>

You have at most ${maxSteps} steps. Nobody but the world answers you.`,
  prompt: ({ observation }) => `Observation:
${observation}

Think first, then act: <think>…</think> <action>…</action>`,
  action: (reply, turn) => {
    const thought = firstTag(reply, 'think')
    const action = thought && firstTag(reply, 'action', thought.end)?.text
    if (action === undefined) return failed('The reply has no <think>…</think> followed by <action>…</action>.')
    if (isStuck(turn.past, action)) return failed(`The action '${action}' was repeated ${SAME} times.`)
    return action === '' ? refused('The action is empty.', turn) : action
  },
}

/** Trinity's: only the action is read; what holds none is an empty command. */
const trinity: Persona = {
  system: () => `\
You are an agent that carries out experiments in a world of text.

In every turn think first, then take exactly one action. Write the thought as <think>…</think> and the action as <action>…</action>. Ask nobody for help: finish the task yourself.

The actions are (OBJ is an object, LOC a room):
${COMMANDS}

A reply looks like this:
<think>I look for it in the bedroom first.</think><action>teleport to bedroom</action>`,
  prompt: ({ observation }) => `Observation:\n${observation}`,
  action: (reply) => (reply.split('<action>', 2)[1] ?? '').split('</action>', 1)[0].trim(),
}

export const PERSONAS = { r3l, trinity } as const

/** It would be the same action several times in a row. */
function isStuck(past: readonly PastTurn[], action: string): boolean {
  const last = past.slice(1 - SAME)
  return last.length === SAME - 1 && last.every((turn) => turn.action === action)
}

/** The reply ends the episode, which is worth nothing then. */
function failed(observation: string): Transition {
  return { observation, reward: 0, done: true, score: 0, metrics: { valid_action: 0 } }
}

/** Nothing happens, and the episode stays worth what it was. */
function refused(observation: string, { past }: Turn): Transition {
  const score = past.at(-1)?.transition.score ?? 0
  return { observation, reward: 0, done: false, score, metrics: { valid_action: 0 } }
}
