/** A model that is served to agents elsewhere: what it said is kept, and what that was worth goes to the trainer. */

export { Commits } from './commits.js'
export { History } from './history.js'
export { Rotation } from './rotation.js'
export { Service } from './service.js'
export { servedName, visits } from './visit.js'
export { WeightWatch } from './weight-watch.js'
