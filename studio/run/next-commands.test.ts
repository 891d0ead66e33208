import { expect, it } from 'vitest'
import { nextCommands } from './next-commands.js'

const checkpoint = { step: 5, path: '/runs/it’s/global_step_5', full: true, isNewest: true, isBest: false }

it('a checkpoint can be gone on with; what a shell would split is one word', () => {
  const commands = nextCommands({ ...checkpoint, weights: '/a b/hf' }, '/my/run.yaml')
  expect(commands[0]).toEqual({ what: 'resume', command: 'trinity run --config /my/run.yaml' })
  expect(commands.find(({ what }) => what === 'serve')?.command).toBe("trinity serve '/a b/hf'")
  const command = (what: string) => commands.find((one) => one.what === what)?.command
  // both refuse to run, or do something else, without these
  expect(command('evaluate')).toContain('--set name=eval-step-5')
  expect(command('export for llama.cpp')).toBe("trinity convert --checkpoint-dir '/a b/hf' --to gguf --out step-5.gguf")
  const older = nextCommands({ ...checkpoint, isNewest: false })
  expect(older.map(({ what }) => what)).not.toContain('resume')
  expect(older[0].command).toBe("trinity chat '/runs/it’s/global_step_5'")
})
