import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough } from 'node:stream'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../test/support/temp-dir.js'
import { studio } from './studio.js'

describe('trinity studio', () => {
  it('prints an address that lets one browser in, and ends without a trace', async () => {
    const dir = await tempDir()
    await mkdir(join(dir, 'page'))
    await writeFile(join(dir, 'page', 'index.html'), '<!doctype html>')
    const end = new AbortController()
    const input = new PassThrough()
    const printed: string[] = []
    const url = () => /http:\S+token=[\w-]+/.exec(printed.join('\n'))?.[0]
    const world = { print: (text: string) => printed.push(text), signal: end.signal, page: join(dir, 'page'), input }
    const ended = studio([dir], { port: '0' }, world)
    await expect.poll(url).toBeDefined()
    const enters = async (address: string) => (await fetch(address, { redirect: 'manual' })).status
    const first = url() as string
    expect([await enters(first), await enters(first)]).toEqual([303, 401])
    input.write('\n')
    await expect.poll(() => printed.length).toBe(4)
    const second = printed[3].trim()
    expect([await enters(second), await enters(second), await enters(first)]).toEqual([303, 401, 401])
    end.abort()
    expect(await ended).toBe(0)
    await expect(fetch(url() as string)).rejects.toThrow()
  })

  it('says how to get a page that is not there, and what is wrong with a port', async () => {
    const page = await tempDir()
    const world = { print: () => {}, signal: AbortSignal.abort(), page }
    await expect(studio([], { port: '0' }, world)).rejects.toMatchObject({ code: 'studio/no-page' })
    await expect(studio([], { port: 'x' }, world)).rejects.toMatchObject({ code: 'cli/number' })
  })
})
