import { fuzzCount, fuzzSeed } from './draw.js'
import { requestSuite } from './suites.js'

// FUZZ_REQUESTS sets the number of cases, PROPERTY_SEED repeats a run.
requestSuite(fuzzCount('FUZZ_REQUESTS', 5500), fuzzSeed('nightly'))
