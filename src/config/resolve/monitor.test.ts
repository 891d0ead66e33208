import { describe, expect, it } from 'vitest'
import { errorsOf, withKeys } from '../../../test/config-kit.js'

const problems = (set: Record<string, unknown>) => errorsOf(() => withKeys(set))

describe('monitor', () => {
  it('gets its folder and the defaults of its arguments', () => {
    const { monitor } = withKeys({ 'monitor.monitor_type': 'mlflow', 'monitor.monitor_args': { username: 'u' } })
    expect(monitor.monitor_args).toEqual({ uri: 'http://localhost:5000', username: 'u', password: null })
    expect(monitor.cache_dir).toMatch(/\/monitor$/)
  })

  it('is checked by name and by arguments', () => {
    expect(problems({ 'monitor.monitor_type': 'tensorbord' })).toMatchObject([
      { key: 'monitor.monitor_type', hint: expect.stringContaining("did you mean 'tensorboard'") },
    ])
    expect(problems({ 'monitor.monitor_type': 'swanlab' })).toMatchObject([
      { key: 'monitor.monitor_type', message: 'SwanLab is not part of this version' },
    ])
    expect(problems({ 'monitor.monitor_type': 'wandb', 'monitor.monitor_args': { apikey: 'x' } })).toMatchObject([
      { key: 'monitor.monitor_args.apikey', hint: 'did you mean api_key?' },
    ])
  })
})
