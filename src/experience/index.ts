export {
  decodeExperience,
  decodeExperiences,
  type EncodeOptions,
  encodeExperience,
  encodeExperiences,
} from './binary.js'
export { checkExperience, createExperience, type ExperienceInit } from './create.js'
export * from './experience.js'
export { fromJsonLine, toJsonLine } from './jsonl.js'
