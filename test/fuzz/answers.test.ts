import { fuzzSeed } from './draw.js'
import { answerSuite } from './suites.js'

answerSuite(40, fuzzSeed('sample'))
