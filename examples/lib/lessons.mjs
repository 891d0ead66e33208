// What a careless student does in a world: the right thing with some probability, otherwise anything. A model that was
// shown this knows what an answer looks like and a little more; the rest is left to reinforcement.
import { Pcg64 } from 'trinity-rft'

/** Actions to the goal from where the world stands, as few as possible: tries all of them, and comes back each time. */
export async function wayToGoal(world, most = 5000) {
  const start = await world.snapshot()
  const seen = new Set()
  let edge = [{ state: start, way: [] }]
  for (let tried = 0; edge.length > 0 && tried < most; ) {
    const next = []
    for (const { state, way } of edge) {
      await world.restore(state)
      for (const action of await world.admissible()) {
        await world.restore(state)
        const { observation, won, done } = await world.step(action)
        tried++
        if (won) {
          await world.restore(start)
          return [...way, action]
        }
        if (done || seen.has(observation)) continue
        seen.add(observation)
        next.push({ state: await world.snapshot(), way: [...way, action] })
      }
    }
    edge = next
  }
  await world.restore(start)
  return []
}

/** Rows `{seen, action}` of the student's episodes. `care` is how often the right thing is done where there is one. */
export async function lessons(world, episodes, { care, steps, seed = 1 }) {
  const random = new Pcg64(seed)
  const rows = []
  for (const row of episodes) {
    let { observation: seen } = await world.reset({ row, seed: 0 })
    for (let step = 0; step < steps; step++) {
      const all = await world.admissible()
      const [right] = random.random() < care ? await wayToGoal(world) : []
      const action = right ?? all[random.below(all.length - 1)]
      rows.push({ seen, action })
      const { observation, done } = await world.step(action)
      if (done) break
      seen = observation
    }
  }
  return rows
}
