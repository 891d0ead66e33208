export { Pcg64 } from './pcg64.js'
