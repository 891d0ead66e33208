import type { Episode } from '../../environment/index.js'
import type { ChatMessage } from '../../model/index.js'
import type { StudyWorld } from './study-world.js'
import { trajectoryText } from './trajectory.js'

/** Asks for a report on an episode. */
export function reflectionMessages(episode: Episode, world: StudyWorld): ChatMessage[] {
  const steps = episode.turn.step
  return [
    { role: 'system', content: reflector(world) },
    {
      role: 'user',
      content: `This is what the agent did, from step 0 to step ${steps - 1}.

${trajectoryText(episode, world)}

Reflect on it, and answer with the JSON object alone.`,
    },
  ]
}

function reflector({ tasks }: StudyWorld): string {
  return `You reflect on what an agent did that works on ${tasks}. You see the whole trajectory and the feedback at its end.

Find out why it went as it did. Ask "why" of every answer that you find, until you come to the decision that everything else follows from. Then say what to do differently, as a principle that helps in other tasks of this kind too, and name the earliest step at which another decision would have changed the outcome. If the whole approach was wrong, that is step 0.

Answer with one JSON object with these fields:
- "trajectory_summary": what the agent tried and what came of it, in a few sentences
- "root_cause_analysis": the decision behind the outcome, and why it was taken; null if nothing went wrong
- "trajectory_outcome": "success" (reached, and nothing to improve), "success_but_inefficient" (reached in a roundabout way) or "failure"
- "improvement_suggestion": the principle, and what it means here; null for "success"
- "retry_from_step": the number of the step to begin again from, 0 for the first; null for "success"

An example, for the equation x^2 - 5x + 6 = 0:
{"trajectory_summary": "The agent used the general formula, made a slip in a sign, noticed it and started over. In the end it found 2 and 3.", "root_cause_analysis": "It took the general formula without looking at the coefficients first; two numbers with sum 5 and product 6 are seen at once.", "trajectory_outcome": "success_but_inefficient", "improvement_suggestion": "Before a general method, look for the structure that makes it unnecessary: here, factors.", "retry_from_step": 0}`
}

/** What a retry is told. It must not speak of it: the words are taken away before it is learned. */
export function selfCorrection(report: Readonly<Record<string, unknown>>): string {
  return `An earlier attempt at this task was looked through. This is the report on it:

${JSON.stringify(report, null, 2)}

Use its lessons: avoid what went wrong, and keep what was right. Answer as if this were the first attempt. Do not mention the report, the earlier attempt or this message.`
}

/** Asks for a critique of an episode, in free text. */
export function critiqueMessages(episode: Episode, world: StudyWorld): ChatMessage[] {
  const mistakes = world.mistakes.map((one) => `- ${one}`).join('\n')
  return [
    {
      role: 'system',
      content: `You review what an agent did that works on ${world.tasks}. Say which mistakes it made, where, and how to avoid each of them next time. Look for these kinds of mistakes in particular:
${mistakes}

Be concrete and brief. Do not carry out the task yourself.`,
    },
    { role: 'user', content: `${trajectoryText(episode, world)}\n\nWrite the critique.` },
  ]
}

/** What a refinement is told. */
export function refinement(critique: string): string {
  return `An earlier attempt at this task failed. A reviewer says of it:

${critique.trim()}

Heed this. Answer as if this were the first attempt, and do not mention the review.`
}
