import type { Persona } from '../../environment.js'
import { isStuck } from './r3l.js'
import { failed, refused } from './transitions.js'
import { type Manner, observed } from './trinity.js'

/** `<experience>`, `<think>` and `<action>`, all three and none empty; going around in circles ends it. */
export function raft({ commands, failure }: Manner): Persona {
  const rules = `You act in a house that you know only from text, to carry out a task.

Every reply has three parts, in this order, and all three tags are required:
<experience>what holds for tasks of this kind: principles, strategies, common mistakes</experience>

<think>your reasoning</think>

<action>one command</action>

Commands:
${commands}

A reply looks like this:
<experience>Objects are mostly where people keep them. What is closed has to be opened before anything in it is seen.</experience>

<think>The task needs a cup. I look into the cabinets first.</think>

<action>go to cabinet 1</action>

What stands in <experience> should help with every task of this kind: no empty phrases, and nothing that is true of this house only.`
  return {
    system: () => rules,
    prompt: ({ observation }) => observed(observation),
    action: (reply, { past }) => {
      const action = readParts(reply)?.action
      if (isStuck(past, action ?? '')) return failed(`The action '${action ?? ''}' was repeated.`, failure)
      return action ?? refused(failure)
    },
  }
}

const PARTS =
  /<experience>([\s\S]*?)<\/experience>[\s\S]*?<think>([\s\S]*?)<\/think>[\s\S]*?<action>([\s\S]*?)<\/action>/

function readParts(reply: string): { action: string } | undefined {
  const [, experience = '', thought = '', action = ''] = PARTS.exec(reply) ?? []
  return [experience, thought, action].every((part) => part.trim() !== '') ? { action: action.trim() } : undefined
}
