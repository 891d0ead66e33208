/** What models are told by default. The formats are the ones that the rewards look for. */
export const THINK_ANSWER = `Work the problem out before you answer. Write your reasoning between <think> and </think>, then the answer alone between <answer> and </answer>, like this:
<think>
your reasoning
</think>
<answer>
your answer
</answer>`

export const BOXED = 'Work the problem out step by step, and give the final answer in \\boxed{}.'

export const BOXED_THINK = `Write your reasoning between <think> and </think>. Behind it, give the solution with the final answer in \\boxed{}.`

export const EVAL_BOXED = 'Please reason step by step, and put your final answer within \\boxed{}.'

/** `tools`: JSON of each. It follows what the row says itself. */
export function toolPrompt(tools: readonly string[]): string {
  return `

# Tools
You may call one or more tools to do what the user asks. Their signatures stand between <tools> and </tools>:
<tools>
${tools.join('\n')}
</tools>

First think about which calls are needed, between <think> and </think>. Then make all of them at once, as a JSON list between <tool_call> and </tool_call>:
<think>
your reasoning
</think>
<tool_call>
[{"name": <name of the tool>, "arguments": <object with its arguments>}, ...]
</tool_call>
If no tool is needed, answer behind </think> without any call.`
}

const DOCTOR =
  'You are a doctor who talks with a patient in writing. Find out what is needed for a sound assessment: complaints, their course, earlier illnesses, medicines.'

/** When asking and stopping are trained. */
export const ASK_OR_STOP = `${DOCTOR} Reply with one short question about what is most important and not known yet. Give no diagnosis and no advice. If everything that is needed is known, reply with <stop /> and nothing else.`

/** When only asking is trained. */
export const ASK_ONLY = `${DOCTOR} Reply with one short question about what is most important and not known yet. Give no diagnosis and no advice.`

/** `wanted`: what there is still to find out. */
export function judgeOfQuestions(wanted: string): string {
  return `You judge the last thing that a doctor says in a conversation with a patient. There is this left to find out:
${wanted}

content_score: 1 if the doctor asks for something of that list, 0.5 if the question is near it or too general, 0 if it has nothing to do with it or was answered before.
format_score: 1 if it is one short, polite question; 0.5 if it asks for two things; 0 for more, or for anything else than a question.

Give both in this form, after a short reason:
<content_score>0.5</content_score>
<format_score>1</format_score>`
}
