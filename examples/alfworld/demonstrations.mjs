// Episodes to learn from, played by the world's own expert. The expert knows where everything is; a model does not. So
// wherever the expert walks to something that nobody has seen yet, some other places are tried first, and now and then
// something else is done, perhaps over and over, that the expert then has to put right. Neither is to be learned (`learn: false`): a model learns
// where the expert goes after all that, which is where such a thing is, given where it was not.
import { AlfWorld, Pcg64 } from 'trinity-rft'

const SHARE_STRAIGHT = 0.25
const MOST_DETOURS = 22
const SHARE_SLIPS = 0.06
const SHARE_REPEATED = 0.4
/** Messages: what ends earlier was as good as done at the start. */
const SHORTEST = 6

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

/** A game with what is to be done in another one; undefined where this house has not all it takes, or it is half done. */
export function withTaskOf(game, { task, task_type, pddl_problem }) {
  const [facts, goal] = [parts(game.pddl_problem)[0], parts(pddl_problem)[1]]
  const kinds = [...goal.matchAll(/Type \?\w+ (\w+)\)/g)].map(([, kind]) => kind)
  if (!kinds.every((kind) => facts.includes(` ${kind})`))) return undefined
  const [thing, place] = ['objectType', 'receptacleType'].map((one) => goal.match(`${one} \\?\\w+ (\\w+)Type`)?.[1])
  if (place && new RegExp(`\\(inReceptacle ${thing}_\\S+ ${place}_`).test(facts)) return undefined
  return { ...game, task, task_type, pddl_problem: facts + goal, walkthrough: undefined }
}

function parts(problem) {
  const at = problem.indexOf('(:goal')
  return [problem.slice(0, at), problem.slice(at)]
}

/** One episode as messages; undefined where it did not end well within the limit. */
export async function demonstrate(game, { seed, habits, maxSteps = 50 }) {
  const random = new Pcg64(seed)
  const world = new AlfWorld()
  const { observation } = await world.reset({ row: game, seed })
  const messages = [{ role: 'user', content: beginning(observation) }]
  const looked = new Set()
  const memory = new Map()
  const target = /(\w+)\.$/.exec(game.task)?.[1]
  let won = false

  /** True: the episode goes on. */
  const act = (command, learn) => {
    const step = world.step(command)
    messages.push({ role: 'assistant', content: command, ...(learn ? {} : { learn: false }) })
    won = step.done
    remember(memory, step.observation)
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

  /** Where another thing of that kind was seen that is not yet where it belongs. */
  const known = (kind) => {
    for (const [thing, place] of memory) if (kindOf(thing) === kind && kindOf(place) !== target) return place
  }

  let detours = random.random() < SHARE_STRAIGHT ? 0 : 1 + random.below(MOST_DETOURS - 1)
  for (let on = true; on; ) {
    const next = world.expert()
    if (next === undefined) return undefined
    if (random.random() < SHARE_SLIPS) {
      const wrong = slip(world.admissible(), messages.findLast(({ role }) => role === 'assistant')?.content, random)
      do on = act(wrong, false)
      while (on && random.random() < SHARE_REPEATED)
      continue
    }
    const wanted = /^go to /.test(next) ? /^(?:take|use) (\D+ \d+)/.exec(purpose() ?? '')?.[1] : undefined
    if (wanted !== undefined && !memory.has(wanted)) {
      const place = known(kindOf(wanted))
      if (place !== undefined && world.admissible().includes(`go to ${place}`)) {
        on = act(`go to ${place}`, true)
        continue
      }
      if (detours > 0) {
        detours--
        const other = elsewhere(world, looked, habits.get(kindOf(wanted)), next, random)
        if (other !== undefined) {
          on = act(`go to ${other}`, false)
          if (on && world.admissible().includes(`open ${other}`)) on = act(`open ${other}`, true)
          continue
        }
      }
    }
    // a neighbor of the place where it stands can be reached unseen: nothing to learn from
    const taken = /^take (\D+ \d+) /.exec(next)?.[1]
    on = act(next, taken === undefined || memory.has(taken))
    // what is to be found next may take a while again
    if (taken && random.random() < 0.7) detours = random.below(MOST_DETOURS - 1)
  }
  return won && messages.length >= SHORTEST ? messages : undefined
}

function kindOf(name) {
  return name.replace(/ \d+$/, '')
}

/** What lies where, as far as an observation tells. */
function remember(memory, observation) {
  const moved = /^You (?:pick up|move) the (\D+ \d+) /.exec(observation)?.[1]
  if (moved) memory.delete(moved)
  const seen = /(?:On|In) (?:the (\D+ \d+)|it), you see (.*)\.$/.exec(observation)
  if (!seen) return
  const place = seen[1] ?? /(?:The|the) (\D+ \d+) is open/.exec(observation)?.[1]
  for (const [, thing] of seen[2].matchAll(/an? (\D+ \d+)/g)) memory.set(thing, place)
}

/** The same again, or something else that can be done; or a command that names what is not there or breaks off, as models do. */
function slip(possible, last, random) {
  if (last !== undefined && random.random() < 0.25) return last
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

/** A place that was not looked at, one where such things are kept more likely than another. */
function elsewhere(world, looked, places, next, random) {
  const open = world
    .admissible()
    .filter((command) => command.startsWith('go to ') && command !== next)
    .map((command) => command.slice('go to '.length))
    .filter((place) => !looked.has(place))
  const weights = open.map((place) => 0.5 + (places?.get(kindOf(place)) ?? 0) ** 0.5)
  let left = random.random() * weights.reduce((sum, weight) => sum + weight, 0)
  return open.find((_, i) => {
    left -= weights[i]
    return left < 0
  })
}
