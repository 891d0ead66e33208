/** A process of its own that puts or takes: `worker.mjs put|take|put-forever CONFIG NAME COUNT`. Reports on stdout. */
import { writeSync } from 'node:fs'
import { openBuffer } from '../../src/buffer/index.js'
import { createExperience, type Experience } from '../../src/experience/index.js'

const [what, config, name, count] = process.argv.slice(2)

/** Written at once: a line that has been seen was true when the process died. */
const say = (line: unknown) => writeSync(1, `${JSON.stringify(line)}\n`)

function experience(task: number): Experience {
  const tokens = Int32Array.from({ length: 200 }, (_, i) => i + task)
  return createExperience({ eid: { batch: name, task }, tokens, reward: task, promptText: `${name} ${task}` })
}

const buffer = await openBuffer(JSON.parse(config), { job: 'project/job' })
if (what === 'put') {
  for (let task = 0; task < Number(count); task += 10) {
    const tasks = Array.from({ length: Math.min(10, Number(count) - task) }, (_, i) => task + i)
    await buffer.put(tasks.map(experience), { who: name })
  }
  await buffer.finish(name)
} else if (what === 'put-forever') {
  say('ready')
  for (let task = 0; ; task += 3) {
    await buffer.put([task, task + 1, task + 2].map(experience), { who: name })
    say(task + 2)
  }
} else {
  say('ready')
  for (;;) {
    const taken = await buffer.take(7, { deadlineMs: 30_000, who: name })
    say(taken.map((e) => `${e.eid.batch}/${e.eid.task}/${e.tokens[0]}`))
    if (taken.length < 7) break
  }
}
await buffer.close()
