import { expect, it } from 'vitest'
import { evaluationOf, trainingFrom } from './from-checkpoint.js'

const text = `# mine
project: p
name: n
model:
  model_path: /first # where it began
  max_model_len: 48
stages:
  - stage_name: warm
    mode: train
`
const from = { name: 'n-from-step-5', model: '/runs/it is/hf' }

it('a run that trains on is the same but for its name and its weights', () => {
  expect(trainingFrom(text, from)).toBe(
    text.replace('name: n', 'name: n-from-step-5').replace('/first', '/runs/it is/hf'),
  )
  expect(trainingFrom('extends: base.yaml\n', from)).toBe(
    'extends: base.yaml\nname: n-from-step-5\nmodel:\n  model_path: /runs/it is/hf\n',
  )
})

it('an evaluation has no stages', () => {
  const made = evaluationOf(text, from)
  expect(made).toContain('mode: bench\n')
  expect(made).not.toContain('stage')
  expect(made).toContain('max_model_len: 48')
})
