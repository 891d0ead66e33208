/** New projects: three questions, and the files that the answers make. */

export type { Answers } from './answers.js'
export { QUESTIONS } from './answers.js'
export { type Asker, answersOf, type Given } from './ask.js'
export { defaultFolder } from './folder.js'
export { type ProjectFile, projectFiles } from './project.js'
export { writeProject } from './write.js'
