import { nextCall } from '../../engine/calls.js'
import { type LinkEnds, timed, type WeightLink } from './link.js'

/** Has the weights of a version written to a folder; gives the folder. */
export type WriteWeights = (version: number, write: (dir: string) => Promise<void>) => Promise<string>

/** Through a folder in the common format: any trainer writes it, any sampler reads it. */
export function checkpointLink({ from, to }: LinkEnds, write: WriteWeights): WeightLink {
  return {
    way: 'checkpoint',
    transfer: (version, inFlight, call) =>
      timed(async () => {
        const { signal, deadlineMs } = call
        const dir = await write(version, (path) => from.saveWeights(path, call))
        for (const sampler of to) await sampler.loadWeights(dir, version, inFlight, nextCall(signal, deadlineMs))
        return undefined
      }),
  }
}
