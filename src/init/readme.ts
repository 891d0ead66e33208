import type { Answers } from './answers.js'

/** The page of a project: what to type, and what its files are for. */
export function readme(name: string, { have, where, data, model }: Answers): string {
  const lines = [
    `# ${name}`,
    '',
    have === 'data'
      ? 'A model learns to answer questions.'
      : 'The model behind an agent learns from what its answers are worth.',
    '',
    '```sh',
    'npm install',
    ...(where === 'gpu' ? ['npx trinity setup torch   # PyTorch, in an environment of its own'] : []),
    'npm test                  # tests of grade.ts',
    'npm run check             # looks for mistakes in trinity.yaml',
    'npm run train             # the same command resumes where it stopped',
    'npm run chat              # talk to the trained model',
    'npx trinity studio        # watch the run in a browser',
    '```',
    '',
    '| | |',
    '|---|---|',
    have === 'data'
      ? '| `reward.ts` | gives each answer what `grade.ts` says |'
      : '| `agent.ts` | the agent: it gets a row of the tasks and returns a reward |',
    '| `grade.ts` | what an answer is worth |',
    '| `trinity.yaml` | the run: model, tasks, steps |',
    ...(data === undefined ? ['| `tasks/` | sums to make from numbers, to begin with |'] : []),
    ...(model === undefined ? ['| `model/` | a small model that guesses most of them |'] : []),
    '| `checkpoints/` | what training writes |',
    '',
    'Documentation: `node_modules/trinity-rft/docs`.',
  ]
  return `${lines.join('\n')}\n`
}
