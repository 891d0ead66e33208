// A process that does nothing but put experiences into a database, as fast as they are taken: an explorer whose rollouts
// cost nothing.
import { begin } from './child.mjs'
import { makePool } from './engines.mjs'
import { makeText } from './text.mjs'

const { api, size, random, report, fail } = await begin()
const { text, ...words } = makeText(api)
const pool = makePool(words, random)
const batch = Array.from({ length: size.batch }, (_, i) => make(i))
const buffer = await api.openBuffer(
  { name: 'experience_buffer', storage_type: 'sql', path: size.database },
  { job: 'bench/scale' },
)
const done = { experiences: 0 }
report(() => ({ ...done }))
work().catch(fail)

async function work() {
  for (let step = 1; ; step++) {
    for (const one of batch) one.eid = { ...one.eid, batch: step }
    await buffer.put(batch, { who: size.name })
    done.experiences += batch.length
    if (step === 1) process.send({ ready: true })
  }
}

/** As a rollout of one turn leaves it behind the advantage function. */
function make(i) {
  const length = size.prompt + size.tokens
  const at = Math.floor(random() * (pool.tokens.length - length))
  const tokens = pool.tokens.slice(at, at + length)
  const [promptText, responseText] = [tokens.slice(0, size.prompt), tokens.slice(size.prompt)].map((part) =>
    text.tokenizer.decode(part),
  )
  const advantages = new Float32Array(size.tokens).fill(random() - 0.5)
  return api.createExperience({
    type: 'multi_turn',
    eid: { batch: 0, task: i >> 3, run: i & 7, suffix: i.toString(16).padStart(6, '0') },
    tokens,
    promptLength: size.prompt,
    actionMask: new Uint8Array(size.tokens).fill(1),
    logprobs: pool.logprobs.slice(at, at + size.tokens),
    advantages,
    returns: advantages.slice(),
    reward: i & 1,
    modelVersion: 0,
    promptText,
    responseText,
    messages: [
      { role: 'user', content: promptText },
      { role: 'assistant', content: responseText },
    ],
    info: { task_index: { taskset_id: 0, index: i >> 3 }, model_version_drift: 0 },
  })
}
