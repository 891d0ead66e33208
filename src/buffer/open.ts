import type { ExperienceBuffer } from './buffer.js'
import type { BufferConfig } from './config.js'
import type { BufferContext } from './kind.js'
import { bufferKinds } from './registry.js'

export async function openBuffer(config: BufferConfig, context: BufferContext = {}): Promise<ExperienceBuffer> {
  return bufferKinds.get(config.storage_type).open(config, context)
}
