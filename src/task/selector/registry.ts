import { Registry } from '../../base/registry.js'
import { difficultyBased } from './difficulty.js'
import { offlineEasy2Hard } from './easy2hard.js'
import { random } from './random.js'
import type { SelectorType } from './selector.js'
import { sequential } from './sequential.js'
import { shuffle } from './shuffle.js'

/** Orders of the rows of a data set by name. */
export const selectors = new Registry<SelectorType>('selector', {
  sequential,
  shuffle,
  random,
  offline_easy2hard: offlineEasy2Hard,
  difficulty_based: difficultyBased,
})
