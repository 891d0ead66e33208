/** Where experiences wait for the trainer: queues, databases, files, and the order in which they are used. */

export type { BufferState, Cut, ExperienceBuffer, PutOptions, Restored, TakeOptions, Waiting } from './buffer.js'
export { ExperienceFile } from './file/experience-file.js'
export type { IndexOrder, RowExperiences } from './file/file-buffer.js'
export type { Repair } from './file/jsonl-file.js'
export type { BufferContext, BufferKind, GivenBuffer } from './kind.js'
export { openBuffer } from './open.js'
export { type PriorityFn, type PriorityItem, type PriorityOf, priorityFn } from './priority/priority-fn.js'
export { priorityFns } from './priority/registry.js'
export type { Keeper } from './queue/keeper.js'
export { openKeeper } from './queue/open-keeper.js'
export { bufferKinds } from './registry.js'
export { type ExperienceFilter, ExperienceView, type StoredExperience } from './sql/view.js'
