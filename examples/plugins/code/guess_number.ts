// An environment of your own in one file: find a number; every guess narrows the range.
import { type Environment, type EpisodeSpec, environment, environments, Pcg64, type Transition, z } from 'trinity-rft'

class GuessNumber implements Environment {
  private state = { low: 0, high: 0, secret: 0 }
  constructor(private readonly max: number) {}

  reset({ row, seed }: EpisodeSpec) {
    const secret = new Pcg64(Number(row.seed ?? seed)).below(this.max)
    this.state = { low: 0, high: this.max, secret }
    return { observation: `from 0 to ${this.max}` }
  }
  step(action: string): Transition {
    const { low, high, secret } = this.state
    const valid = /^\d+$/.test(action)
    const won = valid && Number(action) === secret
    if (valid && Number(action) < secret) this.state = { low: Math.max(low, Number(action) + 1), high, secret }
    else if (valid && !won) this.state = { low, high: Math.min(high, Number(action) - 1), secret }
    const observation = won ? 'found' : `from ${this.state.low} to ${this.state.high}`
    return { observation, reward: won ? 1 : -0.1, done: won, won, metrics: { valid: valid ? 1 : 0 } }
  }
  snapshot = () => this.state
  restore(snapshot: unknown) {
    this.state = snapshot as typeof this.state
  }
}

environments.add(
  'guess_number',
  environment({
    doc: 'find a number; the remaining range is shown',
    args: z.strictObject({ max: z.number().int().min(1).default(9) }),
    maxSteps: 5,
    create: ({ max }) => new GuessNumber(max),
    persona: () => ({ prompt: ({ observation }) => observation, action: (reply) => /\d+/.exec(reply)?.[0] ?? '' }),
  }),
)
