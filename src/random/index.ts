export { beta } from './beta.js'
export { Pcg64 } from './pcg64.js'
