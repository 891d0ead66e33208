import { Registry } from '../base/registry.js'
import { alfworld } from './alfworld/index.js'
import { cardBlackjack } from './cards/card-blackjack.js'
import { ezPoints } from './cards/ez-points.js'
import { numberLine } from './cards/number-line.js'
import { points24 } from './cards/points24.js'
import { emailSearch } from './email/index.js'
import type { EnvironmentEntry } from './environment.js'
import { gridWorld } from './grid-world.js'
import { countdown } from './math/countdown.js'
import { dapoMath } from './math/dapo-math.js'
import { qwenMath } from './math/qwen-math.js'
import { gymnasium } from './python/gymnasium.js'
import { reasoningGym } from './python/reasoning-gym.js'
import { verifiers } from './python/verifiers.js'
import { scienceWorld } from './scienceworld/index.js'
import { sokoban } from './sokoban/sokoban.js'
import { intercodeSql } from './sql/index.js'
import { sudoku } from './sudoku/sudoku.js'
import { blackjack } from './toy-text/blackjack.js'
import { cliffWalking } from './toy-text/cliff-walking.js'
import { frozenLake } from './toy-text/frozen-lake.js'
import { taxi } from './toy-text/taxi.js'
import { webshop } from './webshop/index.js'

/**
 * Environments by the name that `workflow_args.environment` gives.
 * @example
 * import { environments } from 'trinity-rft'
 *
 * for (const name of environments.names()) console.log(name, environments.get(name).doc)
 */
export const environments = new Registry<EnvironmentEntry>('environment', {
  grid_world: gridWorld,
  frozen_lake: frozenLake,
  cliff_walking: cliffWalking,
  taxi,
  blackjack,
  sokoban,
  number_line: numberLine,
  ez_points: ezPoints,
  points24,
  card_blackjack: cardBlackjack,
  sudoku,
  alfworld,
  webshop,
  scienceworld: scienceWorld,
  intercode_sql: intercodeSql,
  email_search: emailSearch,
  dapo_math: dapoMath,
  qwen_math: qwenMath,
  countdown,
  gymnasium,
  reasoning_gym: reasoningGym,
  verifiers,
})
