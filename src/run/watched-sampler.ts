import type { SampleModel } from '../engine/contract.js'
import { Busy } from '../monitor/span/busy.js'
import type { SpanFile } from '../monitor/span/span-file.js'
import type { Closers } from './closers.js'

/**
 * The samplers as the explorer uses them: with a note of when each is at work. One may stand for several engines.
 * `asked`: told of every request.
 */
export function watchedSamplers(
  samplers: readonly SampleModel[],
  spans: SpanFile | undefined,
  closers: Closers,
  asked: () => void = () => {},
): readonly SampleModel[] {
  const watched = new Map<SampleModel, SampleModel>()
  for (const sampler of new Set(samplers)) {
    const busy = spans && closers.add(new Busy(spans.lane(`sampler ${watched.size + 1}`)))
    watched.set(sampler, watch(sampler, asked, busy))
  }
  return samplers.map((sampler) => watched.get(sampler) ?? sampler)
}

function watch(sampler: SampleModel, asked: () => void, busy: Busy | undefined): SampleModel {
  const sample: SampleModel['sample'] = (...request) => {
    asked()
    return busy ? busy.during(() => sampler.sample(...request)) : sampler.sample(...request)
  }
  return new Proxy(sampler, {
    get(target, key) {
      if (key === 'sample') return sample
      const value: unknown = Reflect.get(target, key, target)
      // what a method reads is the sampler's own
      return typeof value === 'function' ? value.bind(target) : value
    },
  })
}
