import { Registry } from '../base/registry.js'
import { countdown } from './countdown/countdown.js'
import type { DatasetEntry } from './dataset.js'
import { emailSearchQuestions } from './email/email-search.js'
import { dapo } from './math/dapo.js'
import { gsm8k } from './math/gsm8k.js'
import { math } from './math/math.js'
import { mathEval } from './math/math-eval.js'
import { intercodeSqlTasks } from './sql/intercode-sql.js'
import { alfworldGames } from './world/alfworld.js'
import { frozenLakeMaps } from './world/frozen-lake.js'
import { reasoningGymTasks } from './world/reasoning-gym.js'
import { scienceWorldTasks } from './world/scienceworld.js'
import { seeds } from './world/seeds.js'
import { sokobanRooms } from './world/sokoban.js'
import { sudokuPuzzles } from './world/sudoku.js'
import { webshopSessions } from './world/webshop.js'

/**
 * Task sets by the name that `trinity data` takes.
 * @example
 * import { datasets } from 'trinity-rft/data'
 *
 * for (const name of datasets.names()) console.log(name, datasets.get(name).license)
 */
export const datasets = new Registry<DatasetEntry>('data set', {
  countdown,
  gsm8k,
  math,
  dapo,
  math_eval: mathEval,
  alfworld: alfworldGames,
  scienceworld: scienceWorldTasks,
  webshop: webshopSessions,
  intercode_sql: intercodeSqlTasks,
  email_search: emailSearchQuestions,
  frozen_lake: frozenLakeMaps,
  sokoban: sokobanRooms,
  sudoku: sudokuPuzzles,
  reasoning_gym: reasoningGymTasks,
  seeds,
})
