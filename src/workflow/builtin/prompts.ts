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
