import { fuzzCount, fuzzSeed } from './draw.js'
import { fileSuite } from './suites.js'

// FUZZ_FILES sets the number of cases, PROPERTY_SEED repeats a run.
fileSuite(fuzzCount('FUZZ_FILES', 25000), fuzzSeed('nightly'))
