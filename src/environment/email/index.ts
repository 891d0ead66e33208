/** Questions about a mailbox, answered with tools to search and read. */

export { buildMailbox } from './build.js'
export { type Email, emailOf } from './email.js'
export { emailSearch } from './email-search.js'
export { emailsIn } from './mailbox.js'
export { answerIn } from './tools.js'
