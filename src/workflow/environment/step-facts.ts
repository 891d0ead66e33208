import { createHash } from 'node:crypto'

/** Where a step began; GiGPO compares steps that began alike. */
export function stepFacts({ observation, prompt }: { readonly observation: string; readonly prompt: string }) {
  return { env_state: observation, env_state_hash: createHash('sha256').update(prompt).digest('hex') }
}
