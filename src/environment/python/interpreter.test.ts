import { describe, expect, it } from 'vitest'
import { fakeHost } from '../../../test/fake-host.js'
import { findInterpreter, interpreterFor } from './interpreter.js'

const has = { stdout: '' }
const lacks = { status: 'failed' as const, stdout: '' }

describe('findInterpreter', () => {
  const folder = '/home/someone/.trinity/python/bin/python3'

  it('takes the first that has the package', async () => {
    const host = fakeHost({ programs: { [folder]: lacks, python3: lacks, python: has } })
    expect(await findInterpreter('some_world', null, host)).toBe('python')
  })

  it('a named one is not replaced by another', async () => {
    const programs = { '/mine': lacks, '/theirs': has, python3: has }
    const host = fakeHost({ env: { TRINITY_PYTHON: '/mine' }, programs })
    await expect(findInterpreter('some_world', null, host)).rejects.toMatchObject({
      code: 'environment/python-package',
      message: 'no Python has the package some-world: /mine',
      hint: expect.stringContaining('/mine -m pip install some-world'),
    })
    expect(await findInterpreter('some_world', '/theirs', host)).toBe('/theirs')
  })

  it('says when there is none at all', async () => {
    await expect(findInterpreter('some_world', '/gone', fakeHost({}))).rejects.toMatchObject({
      code: 'environment/python',
      message: expect.stringContaining('/gone'),
    })
  })
})

it('asks again after a failure', async () => {
  for (let again = 0; again < 2; again++) {
    await expect(interpreterFor('gymnasium', '/no/such/python')).rejects.toMatchObject({ code: 'environment/python' })
  }
})
