import type { ExperienceBuffer } from './buffer.js'
import type { BufferContext, GivenBuffer } from './kind.js'
import { bufferKinds } from './registry.js'

/**
 * Opens the buffer that a configuration describes.
 * @example
 * import { createExperience } from 'trinity-rft'
 * import { openBuffer } from 'trinity-rft/data'
 *
 * const buffer = await openBuffer({ name: 'mine', storage_type: 'sql', path: 'sqlite:///experiences.db' })
 * await buffer.put([createExperience({ tokens: [1, 2, 3], reward: 1 })])
 * await buffer.close()
 */
export async function openBuffer(config: GivenBuffer, context: BufferContext = {}): Promise<ExperienceBuffer> {
  return bufferKinds.get(config.storage_type).open(config, context)
}
