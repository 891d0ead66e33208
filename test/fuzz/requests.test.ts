import { fuzzSeed } from './draw.js'
import { requestSuite } from './suites.js'

requestSuite(60, fuzzSeed('sample'))
