import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, describe, expect, it } from 'vitest'
import { levelOf, openLogDir } from './log-dir.js'

describe('openLogDir', () => {
  const dir = mkdtempSync(join(tmpdir(), 'trinity-log-'))
  afterEach(() => rmSync(dir, { recursive: true, force: true }))
  const read = (name: string) => readFileSync(join(dir, name), 'utf8').trimEnd().split('\n')

  it('writes a file for each part, every line with level, time and name', async () => {
    const logs = openLogDir({ dir, level: 'info' })
    logs.logger('explorer').info('two\nlines')
    logs.logger('explorer').debug('not shown')
    logs.logger('trainer').error('failed', new Error('why'))
    await logs.close()
    const lines = read('explorer.log')
    expect(lines).toHaveLength(2)
    expect(lines[0]).toMatch(/^INFO \d\d-\d\d \d\d:\d\d:\d\d \[explorer\] two$/)
    expect(lines[1]).toMatch(/\[explorer\] lines$/)
    expect(read('trainer.log').every((line) => line.startsWith('ERROR '))).toBe(true)
    expect(read('trainer.log').join('\n')).toContain('why')
  })

  it('makes a folder for each machine when asked to', async () => {
    const logs = openLogDir({ dir, groupByNode: true })
    logs.logger('a').info('x')
    await logs.close()
    const [node, ...others] = readdirSync(dir)
    expect(others).toEqual([])
    expect(read(join(node, 'a.log'))).toHaveLength(1)
  })

  it('puts what is about another machine into the folder of that one', async () => {
    const logs = openLogDir({ dir, groupByNode: true })
    logs.logger('a', '10.0.0.7').info('x')
    logs.logger('a', '../up').info('y')
    await logs.close()
    expect(readdirSync(dir).toSorted()).toEqual(['.._up', '10.0.0.7'])
    expect(read('10.0.0.7/a.log')[0]).toContain('[a] x')
    const plain = openLogDir({ dir })
    plain.logger('b', '10.0.0.7').info('z')
    await plain.close()
    expect(read('b.log')).toHaveLength(1)
  })

  it('moves a large file aside', async () => {
    for (const text of ['first', 'second']) {
      const logs = openLogDir({ dir, rotateBytes: 1 })
      logs.logger('a').info(text)
      await logs.close()
    }
    expect(read('a.log')[0]).toContain('second')
    expect(read('a.log.1')[0]).toContain('first')
  })

  it('reports once that it cannot write, and never throws', async () => {
    const failures: unknown[] = []
    const file = join(mkdtempSync(join(tmpdir(), 'trinity-log-')), 'file')
    writeFileSync(file, 'not a folder')
    const logs = openLogDir({ dir: join(file, 'log'), onFailure: (error) => failures.push(error) })
    logs.logger('a').info('x')
    logs.logger('b').info('y')
    await logs.close()
    expect(failures).toHaveLength(1)
  })

  it('writes nothing without a folder', async () => {
    openLogDir({ dir: null }).logger('a').info('x')
    expect(existsSync(dir)).toBe(false)
  })
})

describe('levelOf', () => {
  it.each([
    ['debug', 'DEBUG'],
    ['Warn', 'WARNING'],
    ['FATAL', 'ERROR'],
    ['loud', 'INFO'],
    [undefined, 'INFO'],
  ])('%s → %s', (text, level) => {
    expect(levelOf(text)).toBe(level)
  })
})
