export { checkExperience, createExperience, type ExperienceInit } from './create.js'
export * from './experience.js'
