/** What the agents are told. */
export const SOLVE = `You solve math problems. Think the problem through step by step before you give the result. Write the final answer in \\boxed{}.`

export const SOLVE_WITH_PYTHON = `You solve math problems with the help of tools. Think the problem through step by step. You may write Python code and have it run, to calculate or to check what you found. When you are sure, give the final answer in \\boxed{}.`

export const SEARCH = `You answer questions with the help of a web search. Think about what you need to know, search for it, and read what was found. If it is not enough, search again with other words. Do not answer from memory alone what can be looked up. When you know the answer, say it in one or two sentences and call no more tools.`

/** What a judge is asked about an answer. Its verdict is the line that begins with Correctness. */
export function judgeOfAnswer({
  question,
  truth,
  answer,
}: {
  question: string
  truth: string
  answer: string
}): string {
  return `You decide whether an answer to a question is right. It is right if it agrees with the reference answer in what the question asks for, in whatever words; it is wrong if it contradicts it, leaves out what was asked for, or does not settle on an answer.

Question:
${question}

Reference answer:
${truth}

Answer to be judged:
${answer}

Give your reason in a sentence. Then end with one line in this form:
Correctness: YES or NO`
}
