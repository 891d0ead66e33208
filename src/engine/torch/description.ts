import { smallestCard } from '../../machine/doctor/cards.js'
import type { Caps } from '../contract.js'
import type { EngineDescription } from '../description.js'
import { checkMachines, notesOfReplicas, torchOptions } from './from-config.js'
import { idleKeys } from './idle-keys.js'
import { memoryWords, torchNeeds } from './memory-of-config.js'
import { verdict } from './verdict.js'

export const torchCaps: Caps = {
  train: true,
  sample: true,
  reward: true,
  heads: ['lm', 'value', 'reward'],
  lora: true,
  logprobs: 'model',
  drawnLogprobs: true,
  promptLogprobs: true,
  allowedTokens: true,
  streaming: true,
  abort: true,
  batchInvariant: false,
  weights: ['memory', 'nccl', 'checkpoint'],
  replicas: true,
}

export const torch: EngineDescription = {
  name: 'torch',
  doc: 'PyTorch in Python processes of its own: NVIDIA GPUs, one process each',
  // veRL trains with PyTorch; where this engine cannot run, files that say so are served by another
  aliases: ['verl'],
  roles: ['train', 'sample', 'score', 'reward'],
  caps: torchCaps,
  weights: torchCaps.weights,
  gpus: 'takes',
  colocates: true,
  recomputes: true,
  canRun: ({ pytorch }) => pytorch,
  // in this order: whether there is PyTorch is only known by starting a Python
  preference: (facts) => (facts.gpus > 0 && facts.pytorch ? 2 : 0),
  ignores: idleKeys,
  async open(config, context) {
    const { TorchEngine } = await import('./engine.js')
    const { memory, tooLarge } = await torchNeeds(config, context, () => smallestCard())
    for (const note of notesOfReplicas(config, tooLarge)) context.note(note)
    const options = { ...torchOptions(config, context.logs, tooLarge), memory }
    const ground = await context.ground?.()
    const warning = checkMachines(config, ground !== undefined)
    if (warning !== undefined) context.note(warning)
    const device = ground && (ground.gpus > 0 ? 'cuda' : 'cpu')
    return new TorchEngine({ ...options, ground, device, roster: context.roster })
  },
  memory: memoryWords,
  verdict,
}
