import { Registry } from '../base/registry.js'
import { file } from './file/kind.js'
import type { BufferKind } from './kind.js'
import { queue } from './queue/kind.js'
import { sql } from './sql/kind.js'

/** Kinds of buffer by `storage_type`. */
export const bufferKinds = new Registry<BufferKind>('storage type', { queue, sql, file })
