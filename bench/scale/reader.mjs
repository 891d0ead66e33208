// The trainer's side of a database: takes batches as fast as they come.
import { begin } from './child.mjs'

const { api, size, report, fail } = await begin()
const buffer = await api.openBuffer(
  { name: 'experience_buffer', storage_type: 'sql', path: size.database },
  { job: 'bench/scale' },
)
const done = { experiences: 0, tokens: 0 }
report(() => ({ ...done }))
work().catch(fail)

async function work() {
  for (let step = 1; ; step++) {
    const taken = await buffer.take(size.batch)
    done.experiences += taken.length
    for (const { tokens } of taken) done.tokens += tokens.length
    if (step === 1) process.send({ ready: true })
  }
}
