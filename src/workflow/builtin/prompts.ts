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
