import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type { RolloutScores } from '../api.js'
import { acting, type Part } from '../part.js'
import { openable } from '../playground/models.js'
import type { Players } from '../playground/players.js'
import type { Shelf } from './shelf.js'

const body = z.strictObject({ store: z.string(), id: z.number().int().min(0), model: z.string() })

/** What another model says to the tokens of a rollout: no run records how sure a model was, nor what a later one thinks. */
export function scorePart(folders: readonly string[], shelf: Shelf, players: Players): Part {
  return acting('/runs/:run/score', body, async ({ store, id, model }, run, { tell, signal }) => {
    const path = await openable(folders, model)
    const { source } = await shelf.get(run, store)
    const { tokens, promptLength, temperature } = await source.read(id)
    if (promptLength < 1 || promptLength >= tokens.length)
      throw new TrinityError('studio/nothing-to-score', 'this rollout has no answer that a model could score')
    const asked = {
      model: path,
      tokens: [...tokens],
      start: promptLength,
      temperature: temperature > 0 ? temperature : 1,
    }
    return players.ask<RolloutScores>(path, 'score', asked, { onPart: tell, signal })
  })
}
