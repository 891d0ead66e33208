import { without, withValue } from './yaml-text.js'

/** What is made from a checkpoint: the name of another run, and the weights that it begins with. */
export interface FromCheckpoint {
  readonly name: string
  readonly model: string
}

/** The configuration of a run that trains on from a checkpoint. */
export function trainingFrom(text: string, { name, model }: FromCheckpoint): string {
  return withValue(withValue(text, ['name'], name), ['model', 'model_path'], model)
}

/** The configuration of a run that evaluates a checkpoint and does nothing else. */
export function evaluationOf(text: string, from: FromCheckpoint): string {
  // every stage has a mode of its own
  return without(withValue(trainingFrom(text, from), ['mode'], 'bench'), ['stages'])
}
