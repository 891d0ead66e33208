import { copyFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { tempDir } from '../../../../test/support/temp-dir.js'
import { fakeJar } from '../fake-java.fixture.js'
import { checkedJar, findJar, PLACED_JAR, releaseOf } from './jar.js'

describe('findJar', () => {
  it('takes the argument, then the row, then the variable', async () => {
    const [given, row, variable] = [await fakeJar(), await fakeJar(), await fakeJar()]
    const env = { SCIENCEWORLD_JAR: variable }
    expect(findJar({ given, row }, env)).toBe(given)
    expect(findJar({ given: null, row }, env)).toBe(row)
    expect(findJar({ row: '/your/path/scienceworld.jar' }, env)).toBe(variable)
  })

  it('says where it looked and how to get it; what the user named is not replaced', async () => {
    const env = { SCIENCEWORLD_JAR: await fakeJar() }
    expect(() => findJar({ given: '/no/such.jar' }, env)).toThrow(/not there: \/no\/such\.jar$/)
    expect(() => findJar({ row: '/a.jar' }, { SCIENCEWORLD_JAR: ' ' })).toThrow(
      expect.objectContaining({
        code: 'environment/jar',
        message: expect.stringMatching(new RegExp(`/a\\.jar, .*${PLACED_JAR}$`)),
        hint: expect.stringContaining('trinity data scienceworld'),
      }),
    )
  })
})

describe('checkedJar', () => {
  it('takes 1.2 and refuses other releases, other programs and other files', async () => {
    const good = await fakeJar()
    expect(await checkedJar(good)).toBe(good)
    expect(await releaseOf(good)).toBe('1.2.3')
    await expect(checkedJar(await fakeJar('1.3.0'))).rejects.toThrow('is ScienceWorld 1.3.0')
    await expect(checkedJar(await fakeJar('1.2.3', 'other/Main.class'))).rejects.toThrow('is not the simulator')
    const text = join(await tempDir(), 'text.jar')
    await writeFile(text, 'not a jar')
    await expect(checkedJar(text)).rejects.toMatchObject({ code: 'file/zip' })
  })

  it('looks again at a file that was wrong', async () => {
    const path = join(await tempDir(), 'later.jar')
    await writeFile(path, '')
    await expect(checkedJar(path)).rejects.toThrow('zip')
    await copyFile(await fakeJar(), path)
    expect(await checkedJar(path)).toBe(path)
  })
})
