export {
  decodeExperience,
  decodeExperiences,
  type EncodeOptions,
  encodeExperience,
  encodeExperiences,
} from './binary.js'
export { checkExperience, createExperience, type ExperienceInit } from './create.js'
export * from './experience.js'
export * from './format/index.js'
export { fromJsonLine, toJsonLine } from './jsonl.js'
export { TrainingData, type TrainingDataConfig } from './training-data.js'
