import { fuzzCount, fuzzSeed } from './draw.js'
import { answerSuite } from './suites.js'

// FUZZ_ANSWERS sets the number of cases, PROPERTY_SEED repeats a run.
answerSuite(fuzzCount('FUZZ_ANSWERS', 7000), fuzzSeed('nightly'))
