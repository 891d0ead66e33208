/**
 * What was said and how it went: experiences, the tokens of a conversation, their files, and data sets that are read
 * as experiences.
 */

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
export { TrainingData } from './training-data.js'
