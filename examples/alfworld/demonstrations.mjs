// Episodes to learn from, played by the world's own expert. The expert knows where everything is; a model does not. So
// wherever the expert walks to something that nobody has seen yet, some other places are tried first, and now and then
// something else is done that the expert then has to put right; that is not to be learned (`learn: false`). What a model
// takes from it is to look where a thing probably is, and nowhere twice.
import { AlfWorld, Pcg64 } from 'trinity-rft'

const SHARE_STRAIGHT = 0.3
const MOST_DETOURS = 14
const SHARE_SLIPS = 0.06

/** Where things of a kind were found in these games: kind of thing → kind of place → how often. */
export function habits(games) {
  const found = new Map()
  for (const { walkthrough = [] } of games) {
    for (const command of walkthrough) {
      const taken = /^take (\D+) \d+ from (\D+) \d+$/.exec(command)
      if (!taken) continue
      const places = found.get(taken[1]) ?? new Map()
      places.set(taken[2], (places.get(taken[2]) ?? 0) + 1)
      found.set(taken[1], places)
    }
  }
  return found
}

/** One episode as messages; undefined where it did not end well within the limit. */
export async function demonstrate(game, { seed, habits, maxSteps = 50 }) {
  const random = new Pcg64(seed)
  const world = new AlfWorld()
  const { observation } = await world.reset({ row: game, seed })
  const messages = [{ role: 'user', content: beginning(observation) }]
  const looked = new Set()
  let seen = observation
  let won = false

  /** True: the episode goes on. */
  const act = (command, learn) => {
    const step = world.step(command)
    messages.push({ role: 'assistant', content: command, ...(learn ? {} : { learn: false }) })
    won = step.done
    seen += `\n${step.observation}`
    if (!won) messages.push({ role: 'user', content: step.observation })
    const place = /^(?:go to|open) (.+)$/.exec(command)?.[1]
    if (place && !step.observation.endsWith('is closed.')) looked.add(place)
    return !won && messages.length < 2 * maxSteps
  }

  /** What the expert will take or use at the end of its walk, if it walks now. */
  const purpose = () => {
    const here = world.snapshot()
    try {
      for (let i = 0; i < 3; i++) {
        const next = world.expert()
        if (next === undefined || !/^(go to|open) /.test(next)) return next
        if (world.step(next).done) return next
      }
      return undefined
    } finally {
      world.restore(here)
    }
  }

  let detours = random.random() < SHARE_STRAIGHT ? 0 : 1 + random.below(MOST_DETOURS - 1)
  for (let on = true; on; ) {
    const next = world.expert()
    if (next === undefined) return undefined
    if (random.random() < SHARE_SLIPS) {
      on = act(slip(world.admissible(), random), false)
      continue
    }
    const wanted = /^go to /.test(next) ? /^(?:take|use) (\D+ \d+)/.exec(purpose() ?? '')?.[1] : undefined
    if (wanted !== undefined && detours > 0 && !mentioned(seen, wanted)) {
      const place = elsewhere(world, looked, habits.get(wanted.replace(/ \d+$/, '')), next, random)
      detours--
      if (place !== undefined) {
        on = act(`go to ${place}`, true)
        if (on && world.admissible().includes(`open ${place}`)) on = act(`open ${place}`, true)
        continue
      }
    }
    on = act(next, true)
    // what is to be found next may take a while again
    if (/^take /.test(next) && random.random() < 0.7) detours = random.below(MOST_DETOURS - 1)
  }
  return won ? messages : undefined
}

/** Something else that can be done; or a command that names what is not there or breaks off, as models do at first. */
function slip(possible, random) {
  const command = possible[random.below(possible.length - 1)]
  if (random.random() < 0.4) return command
  const words = command.split(' ')
  if (random.random() < 0.4) return words.slice(0, 1 + random.below(words.length - 1)).join(' ')
  const other = possible[random.below(possible.length - 1)].split(' ')
  return [...words.slice(0, -1), 1 + random.below(30), ...(random.random() < 0.3 ? other.slice(-2) : [])].join(' ')
}

/** The first observation, without the banner above it. */
function beginning(observation) {
  return observation.replace(/^-=.*=-\n\n/, '')
}

function mentioned(seen, thing) {
  return (
    seen.includes(`a ${thing},`) ||
    seen.includes(`a ${thing}.`) ||
    seen.includes(`an ${thing},`) ||
    seen.includes(`an ${thing}.`)
  )
}

/** A place that was not looked at, one where such things are kept more likely than another. */
function elsewhere(world, looked, places, next, random) {
  const open = world
    .admissible()
    .filter((command) => command.startsWith('go to ') && command !== next)
    .map((command) => command.slice('go to '.length))
    .filter((place) => !looked.has(place))
  const weights = open.map((place) => 0.5 + (places?.get(place.replace(/ \d+$/, '')) ?? 0) ** 0.5)
  let left = random.random() * weights.reduce((sum, weight) => sum + weight, 0)
  return open.find((_, i) => {
    left -= weights[i]
    return left < 0
  })
}
