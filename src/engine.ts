/**
 * What computes: engines and the contract they keep, and the model directories they open.
 * @module
 */

export { type ConvertOptions, convertCheckpoint } from './convert/index.js'
export type * from './engine/contract.js'
export type { EngineContext, EngineDescription, TrainingNeeds } from './engine/description.js'
export { NativeEngine } from './engine/native/engine.js'
export { engines } from './engine/registry.js'
export { TorchEngine } from './engine/torch/engine.js'
export type { MemoryNeed, TorchModelOptions, TorchOptions } from './engine/torch/options.js'
export { type ExportOptions, exportGguf } from './model/gguf/export.js'
export {
  Chat,
  type CreateModelOptions,
  createModel,
  describeModel,
  estimateMemory,
  type ModelConfig,
  type ModelDescription,
  type ModelDir,
  openModelDir,
  SafetensorsFile,
  saveModel,
  Tokenizer,
  writeSafetensors,
} from './model/index.js'
