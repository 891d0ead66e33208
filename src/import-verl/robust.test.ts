import { readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { TrinityError } from '../base/error.js'
import { importVerlText } from './import.js'

const scripts = ['reward-model.sh', 'dynamic-sampling.sh'].map((name) =>
  readFileSync(fileURLToPath(new URL(`./fixtures/${name}`, import.meta.url)), 'utf8'),
)

/** Ends in a TrinityError or in YAML that parses and whose settings are all accounted for. */
function survives(text: string, name?: string): void {
  let yaml: string
  try {
    yaml = importVerlText(text, { name }).yaml
  } catch (error) {
    if (!(error instanceof TrinityError)) throw error
    return
  }
  const config = parse(yaml)
  expect(config.buffer.batch_size).toBeGreaterThanOrEqual(1)
  expect(config.algorithm.algorithm_type).toBeTypeOf('string')
}

const shellPiece = fc.constantFrom(
  ...[
    '"',
    "'",
    '`',
    '$',
    '${',
    '}',
    '$(',
    '$((',
    '))',
    '(',
    ')',
    '[',
    ']',
    '[[',
    ']]',
    '{',
    '\\',
    '\n',
    ' ',
    '#',
    ';',
    ';;',
    '&',
    '&&',
    '||',
    '|',
    '<<EOF',
    '\nEOF\n',
    '>',
    '<(',
  ],
  ...[
    'if ',
    'then ',
    'else ',
    'fi',
    'for x in a b; do ',
    'done',
    'while ',
    'case $x in ',
    'esac',
    'f() ',
    'eval ',
    'export ',
    'x=',
    'x+=(',
    '$x',
    '${x:-',
    '${x##',
    '${x//',
    '${!x}',
    '"$@"',
    '${x[@]}',
    'x=$x$x;',
    '*',
    '?',
    '!',
    '-eq',
    '=~',
  ],
  ...[
    'python3 -m verl.trainer.main_ppo ',
    'trainer.nnodes=',
    'data.train_files=',
    'algorithm.adv_estimator=gae ',
    'a.b=1 ',
    '1e999',
    '-1',
    '__proto__',
    'constructor.x=1 ',
    '${oc.env:',
    '${oc.select:a,',
    '\u0000',
    '\ud800',
    '\u2028',
    '🙂',
  ],
)

describe('importing never breaks', () => {
  it('on any text', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'binary', maxLength: 300 }), (text) => survives(text)),
      { numRuns: 300 },
    )
  })

  it('on shell-like noise', () => {
    const noise = fc.array(shellPiece, { maxLength: 40 }).map((pieces) => pieces.join(''))
    fc.assert(
      fc.property(noise, (text) => survives(text)),
      { numRuns: 1500 },
    )
  })

  it('on noise as the value of a setting', () => {
    const keys = [
      'trainer.nnodes',
      'trainer.n_gpus_per_node',
      'data.train_files',
      'data.train_batch_size',
      'actor_rollout_ref.rollout.n',
      'actor_rollout_ref.rollout.tensor_model_parallel_size',
      'actor_rollout_ref.actor.optim.lr',
      'trainer.logger',
      'algorithm.adv_estimator',
      'trainer.project_name',
      'actor_rollout_ref.model.path',
      'actor_rollout_ref.actor.x',
      'actor_rollout_ref.actor.x.y',
      'trainer.test_freq',
      'reward_model.enable',
      'reward_model.model.path',
      'critic.optim.lr',
      'data.shuffle',
    ]
    const value = fc.oneof(
      fc.string({ unit: 'binary' }),
      fc.double().map(String),
      fc.array(shellPiece, { maxLength: 6 }).map((pieces) => pieces.join('')),
      fc.json(),
    )
    const setting = fc.tuple(fc.constantFrom(...keys), value)
    fc.assert(
      fc.property(fc.array(setting, { maxLength: 8 }), (settings) => {
        const quoted = settings.map(([key, text]) => `'${key}=${text.replaceAll("'", `'"'"'`)}'`)
        survives(`python3 -m verl.trainer.main_ppo a.b=1 ${quoted.join(' ')}`)
      }),
      { numRuns: 600 },
    )
  })

  it('on real scripts with pieces cut out, doubled or replaced', () => {
    const edit = fc.tuple(fc.nat(), fc.nat(40), fc.oneof(shellPiece, fc.string({ maxLength: 5 })))
    fc.assert(
      fc.property(fc.constantFrom(...scripts), fc.array(edit, { minLength: 1, maxLength: 6 }), (script, edits) => {
        let text = script
        for (const [at, length, piece] of edits) {
          const start = at % (text.length + 1)
          text = text.slice(0, start) + piece + text.slice(start + length)
        }
        survives(text)
      }),
      { numRuns: 600 },
    )
  })

  it('on YAML of any shape', () => {
    const tree = fc.letrec((tie) => ({
      node: fc.oneof(
        { maxDepth: 4 },
        fc.string(),
        fc.double(),
        fc.boolean(),
        fc.constant(null),
        fc.constant('${data.x}'),
        fc.array(tie('node'), { maxLength: 3 }),
        fc.dictionary(
          fc.constantFrom('actor', 'optim', 'lr', 'enable', 'n', 'path', 'nnodes', 'train_files', '__proto__'),
          tie('node'),
        ),
      ),
    })).node
    fc.assert(
      fc.property(tree, tree, tree, (a, b, c) =>
        survives(JSON.stringify({ actor_rollout_ref: a, trainer: b, data: c }), 'x.yaml'),
      ),
      { numRuns: 300 },
    )
  })

  it.each([
    ['nested quotes', '"$('.repeat(5000)],
    ['nested braces', 'x=${a:-'.repeat(5000)],
    ['nested blocks', '{ '.repeat(5000)],
    ['nested arithmetic', `x=$((${'('.repeat(5000)}1${')'.repeat(5000)}))`],
    ['negations', '! '.repeat(5000)],
    ['a variable that doubles', `x=aaaaaaaaaaaaaaaa\n${'x=$x$x\n'.repeat(60)}`],
    ['a function that calls itself', 'f() { f; f; }; f'],
    ['a text that evaluates itself', `x='eval "$x"'; eval "$x"`],
    ['a loop in a loop', `${'for a in 1 2 3 4 5 6 7 8 9; do '.repeat(6)} y=1; ${'done; '.repeat(6)}`],
    ['a pattern with many stars', `x=${'a'.repeat(3000)}; y=\${x##${'*a'.repeat(30)}b}`],
    [
      'huge sizes',
      'python3 -m verl.trainer.main_ppo trainer.nnodes=1e15 trainer.n_gpus_per_node=1e15 actor_rollout_ref.rollout.tensor_model_parallel_size=1e15',
    ],
    [
      'keys that contain each other',
      'python3 -m verl.trainer.main_ppo actor_rollout_ref.actor.x.y=1 actor_rollout_ref.actor.x=2',
    ],
    ['deep YAML', `actor_rollout_ref: ${'['.repeat(3000)}`],
    ['deep dicts', `actor_rollout_ref:${'{a: '.repeat(200)}1${'}'.repeat(200)}`],
  ])('on %s', (_, text) => {
    survives(`${text}\npython3 -m verl.trainer.main_ppo a.b=1`)
    survives(text, 'x.yaml')
  })
})
