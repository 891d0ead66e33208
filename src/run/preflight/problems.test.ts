import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { afterAll, describe, expect, it } from 'vitest'
import { catalog, facts } from '../../../test/config-kit.js'
import { readText, resolveConfig } from '../../config/index.js'
import { problemText } from '../../config/problem.js'
import { loadPlugins } from '../../plugin.js'
import { preflight } from './problems.js'

const dir = mkdtempSync(join(tmpdir(), 'trinity-preflight-'))
afterAll(() => rmSync(dir, { recursive: true, force: true }))
const tasks = join(dir, 'tasks.jsonl')
writeFileSync(tasks, '{"prompt": "1+1", "response": "2"}\n')
const model = resolve('test/fixtures/tiny-llama')

const TEXT = `model:
  model_path: ${model}
  max_model_len: 64
explorer: {rollout_model: {engine_type: native}}
buffer:
  explorer_input:
    taskset:
      path: ${tasks}
      default_workflow_type: math_workflow
`

/** Severity, place and words of everything that is found in the file with the change. */
async function found(change: (text: string) => string, set: string[] = []): Promise<string[]> {
  const parsed = readText(change(TEXT), 'f.yaml', { env: {}, cwd: dir, set })
  const resolved = resolveConfig(parsed, facts({ cwd: dir }), catalog)
  const problems = await preflight(parsed, resolved, facts({ cwd: dir }))
  return problems.map((one) => `${one.severity} ${problemText(one)}`)
}
const asIs = (text: string) => text

describe('what a run would refuse is found before', () => {
  it('in a sound file nothing', async () => {
    expect(await found(asIs)).toEqual([])
  })

  it('a workflow that nothing knows, at its line', async () => {
    const [problem] = await found((text) => text.replace('math_workflow', 'math_workflw'))
    expect(problem).toMatch(
      /^error f\.yaml:9:30 buffer\.explorer_input\.taskset\.default_workflow_type: unknown workflow 'math_workflw' \(did you mean 'math_workflow'\?/,
    )
  })

  it('a server that everybody reaches without a key, or with half a certificate', async () => {
    expect(await found(asIs, ['mode=serve'])).toEqual([])
    expect(await found(asIs, ['mode=serve', 'explorer.listen_address=0.0.0.0'])).toEqual([
      expect.stringMatching(
        /^error .*explorer\.listen_address: others reach a server at 0\.0\.0\.0, and it has no key/,
      ),
    ])
    expect(await found(asIs, ['mode=serve', 'explorer.proxy_tls_cert=c.pem'])).toEqual([
      expect.stringMatching(/^error .*explorer\.proxy_tls_key is missing/),
    ])
    expect(await found(asIs, ['mode=serve', 'explorer.proxy_api_key=k'])).toEqual([])
  })

  it('variables that a hosted model needs', async () => {
    const external = ['mode=bench', 'model.external_model.enable=true', 'model.external_model.base_url_env=NO_SUCH_URL']
    expect(await found(asIs, external)).toEqual([expect.stringMatching(/^warning .*NO_SUCH_URL is not set/)])
  })

  it('an optimizer and a schedule that are not here', async () => {
    expect(await found(asIs, ['algorithm.optimizer.optimizer_type=sgd'])).toEqual([
      expect.stringMatching(/^error .*algorithm\.optimizer\.optimizer_type: there is no optimizer 'sgd' here/),
    ])
    expect(await found(asIs, ['algorithm.optimizer.lr_scheduler_type=zigzag'])).toEqual([
      expect.stringMatching(/^error .*zigzag/),
    ])
  })

  it('a model and data that are not on this machine, as warnings: another one may have them', async () => {
    expect(await found((text) => text.replace(model, `${dir}/nope`))).toEqual([
      expect.stringMatching(/^warning f\.yaml:2:15 model\.model_path: there is no model at/),
    ])
    expect(await found((text) => text.replace(tasks, 'data/taks.jsonl'))).toEqual([
      expect.stringMatching(/^warning f\.yaml:8:13 buffer\.explorer_input\.taskset\.path: there is no data set at/),
    ])
    expect(await found((text) => text.replace(model, 'Qwen/Qwen2.5-1.5B-Instruct'))).toEqual([])
    // beside the file, whose folder is this one
    expect(
      await found((text) => text.replace(model, '${config.dir:no-model}').replace(tasks, '${config.dir:no-tasks}')),
    ).toEqual([
      expect.stringMatching(/^warning .*model\.model_path: there is no model at '\.\/no-model'/),
      expect.stringMatching(/^warning .*taskset\.path: there is no data set at '\.\/no-tasks'/),
    ])
    // below a folder that is here, which an id of a repository looks like
    expect(await found((text) => text.replace(model, 'src/no-model').replace(tasks, 'src/no-tasks'))).toEqual([
      expect.stringMatching(/^warning .*there is no model at 'src\/no-model'/),
      expect.stringMatching(/^warning .*there is no data set at 'src\/no-tasks'.*hf:\/\/src\/no-tasks/),
    ])
    expect(await found(asIs, ['trainer.trainer_type=torch'])).toEqual([
      expect.stringMatching(/^warning .*trainer\.trainer_type: the torch engine cannot run on this machine/),
    ])
  })

  it('sequences that are longer than the model takes', async () => {
    const most = 'the model takes 128 at most (ask for 128 tokens or fewer)'
    expect(await found(asIs, ['model.max_model_len=128'])).toEqual([])
    expect(await found((text) => text.replace('64', '129'))).toEqual([
      `error f.yaml:3:18 model.max_model_len: sequences of 129 tokens, but ${most}`,
    ])
    const lengths = 'max_prompt_tokens: 1000\n  max_response_tokens: 200'
    expect(await found((text) => text.replace('max_model_len: 64', lengths))).toEqual([
      `error f.yaml:4:24 model.max_response_tokens: sequences of 1200 tokens, but ${most}`,
    ])
    expect(await found(asIs, ['explorer.rollout_model.max_model_len=2000'])).toEqual([
      expect.stringMatching(/^error .*explorer\.rollout_model\.max_model_len: sequences of 2000 tokens/),
    ])
    // as the run opens it
    const stretched = 'model.rope_scaling={rope_type: yarn, factor: 4}'
    expect(await found(asIs, [stretched, 'model.max_model_len=512'])).toEqual([])
    expect(await found(asIs, [stretched, 'model.max_model_len=513'])).toEqual([
      expect.stringContaining('the model takes 512 at most'),
    ])
  })

  it('a column that the data at hand do not have, and too few rows', async () => {
    expect(await found((text) => `${text}      format: {prompt_key: promt}\n`)).toEqual([
      expect.stringMatching(/^error f\.yaml:10:15 buffer\.explorer_input\.taskset\.format: .*promt/),
    ])
    expect(await found(asIs, ['buffer.batch_size=4'])).toEqual([
      expect.stringMatching(/^warning .*buffer\.batch_size: 1 tasks do not fill one batch of 4/),
    ])
  })

  it('in every stage, once', async () => {
    const stages = 'stages:\n  - stage_name: a\n  - stage_name: b\n    algorithm: {optimizer: {optimizer_type: sgd}}\n'
    const wrong = (text: string) => text.replace('math_workflow', 'math_workflw') + stages
    expect(await found(wrong)).toEqual([
      expect.stringMatching(/^error f\.yaml:9:30 .*math_workflw/),
      expect.stringMatching(/^error .*sgd/),
    ])
  })
})

describe('a loss of a plugin', () => {
  it('that cannot be written down is shown with the line of its code', async () => {
    const plugins = join(dir, 'plugins')
    mkdirSync(plugins)
    writeFileSync(
      join(plugins, 'losses.ts'),
      [
        "import { z } from 'trinity-rft'",
        "import { policyLoss, policyLossFns } from 'trinity-rft/algorithm'",
        'const args = z.strictObject({})',
        "policyLossFns.add('misspelled', policyLoss({ doc: 'd', args, build: (g, _, { agg }) =>",
        '  agg(g.logprob.ngate()) }))',
        "policyLossFns.add('mixed', policyLoss({ doc: 'd', args, build: (g, _, { agg }) =>",
        "  agg(g.logprob.mul(g.rowColumn('expert'))) }))",
        "policyLossFns.add('strange', policyLoss({ doc: 'd', args, build: (g, _, { agg }) =>",
        "  agg(g.logprob.mul(g.column('advantge'))) }))",
      ].join('\n'),
    )
    await loadPlugins([plugins])
    const of = (name: string) => found((text) => `${text}algorithm:\n  policy_loss_fn: ${name}\n`)
    const at = (line: number) => expect.stringContaining(`(${join(plugins, 'losses.ts')}:${line}:`)
    const place = 'f.yaml:11:19 algorithm.policy_loss_fn: '
    for (const [name, line] of [
      ['misspelled', 5],
      ['mixed', 7],
    ] as const) {
      expect(await of(name)).toEqual([at(line)])
      expect(await of(name)).toEqual([expect.stringContaining(`error ${place}policy loss '${name}'`)])
    }
    // another part of the run may set it
    expect(await of('strange')).toEqual([at(9)])
    expect(await of('strange')).toEqual([
      expect.stringMatching(/^warning .*the loss reads the column 'advantge'.*did you mean 'advantage'\?/),
    ])
  })
})
