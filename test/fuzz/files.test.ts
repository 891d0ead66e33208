import { fuzzSeed } from './draw.js'
import { fileSuite } from './suites.js'

fileSuite(250, fuzzSeed('sample'))
