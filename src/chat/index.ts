/** `trinity chat`: a person talks to a model in the terminal. */

export { answer, converse, type Desk } from './converse.js'
export { type Reply, type ReplyOptions, replyTo } from './reply.js'
export { Talk, type TalkOptions } from './talk.js'
export { whichModel } from './which-model.js'
