export { beta } from './beta.js'
export { Mt19937 } from './mt19937.js'
export { Pcg64 } from './pcg64.js'
export { PythonRandom } from './python-random.js'
