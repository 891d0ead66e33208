import { expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { checkEnvironment } from './environment.js'

const check = async (env: Record<string, string>) => {
  const checks = await checkEnvironment(fakeHost({ env }))
  return (name: string) => checks.find((c) => c.name === name)
}

it('never shows a value', async () => {
  const env = {
    HF_TOKEN: 'hf_SECRET',
    WANDB_API_KEY: ' wandb_SECRET ',
    OPENAI_API_KEY: '"sk-SECRET"',
    OPENAI_BASE_URL: 'SECRET',
    TINKER_API_KEY: 'tml-SECRET',
    TRINITY_MODEL_PATH: '/SECRET',
    TRINITY_PLUGIN_DIRS: '/SECRET/plugins',
    TRINITY_OWN_THING: 'SECRET',
    TRINITY_MODLE_PATH: 'SECRET',
  }
  const checks = await checkEnvironment(fakeHost({ env }))
  expect(JSON.stringify(checks)).not.toContain('SECRET')
  for (const name of Object.keys(env)) expect(checks.some((c) => c.name === name)).toBe(true)
})

it('tells set, absent and spoilt from each other', async () => {
  const of = await check({
    HF_TOKEN: 'x',
    WANDB_API_KEY: '',
    OPENAI_API_KEY: "'x'",
    OPENAI_BASE_URL: 'nowhere',
    TRINITY_PLUGIN_DIRS: '/no/such/folder',
  })
  expect(of('HF_TOKEN')).toMatchObject({ status: 'ok', data: { set: true } })
  expect(of('TINKER_API_KEY')).toMatchObject({ status: 'missing', required: false, data: { set: false } })
  expect(of('WANDB_API_KEY')?.found).toContain('empty')
  expect(of('OPENAI_API_KEY')?.found).toContain('quotes')
  expect(of('OPENAI_BASE_URL')?.found).toContain('not a URL')
  expect(of('TRINITY_PLUGIN_DIRS')?.status).toBe('wrong')
  expect(of('TINKER_BASE_URL')).toBeUndefined()
})

it('offers the right spelling, and leaves users their own names', async () => {
  const of = await check({ TRINITY_MODLE_PATH: 'x', TRINITY_MY_SECOND_MODEL: 'x', TRINITY_LOG_DIR: 'x' })
  expect(of('TRINITY_MODLE_PATH')).toMatchObject({ status: 'warning', fix: 'did you mean TRINITY_MODEL_PATH?' })
  expect(of('TRINITY_MY_SECOND_MODEL')?.status).toBe('ok')
  expect(of('TRINITY_LOG_DIR')?.status).toBe('ok')
})
