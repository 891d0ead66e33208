import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { MockHub } from '../../test/hub/mock-hub.js'
import { looksLikeRepoId, modelFiles, openRepo, type RepoOptions, resolveRepo } from './repo.js'

const big = Buffer.from(Array.from({ length: 200_000 }, (_, i) => i % 251))
let hub: MockHub
let home: string
let url: string
let env: NodeJS.ProcessEnv

beforeEach(async () => {
  hub = new MockHub({ 'config.json': '{"a":1}', 'model.safetensors': big, 'onnx/model.onnx': 'x', 'model.onnx': 'x' })
  url = await hub.start()
  home = await mkdtemp(join(tmpdir(), 'trinity-test-'))
  env = { HF_ENDPOINT: url, HF_HOME: home, MODELSCOPE_ENDPOINT: url, MODELSCOPE_CACHE: join(home, 'ms') }
})
afterEach(async () => {
  await hub.stop()
  await rm(home, { recursive: true, force: true })
})

const options = (more: NodeJS.ProcessEnv = {}): RepoOptions => ({ env: { ...env, ...more }, waitMs: 1 })
const fails = (work: Promise<unknown>) =>
  work.then(
    () => expect.fail('did not fail'),
    (error) => error as { code: string; message: string; hint: string; path: string },
  )

describe('Hugging Face', () => {
  it('downloads what a model needs into the cache that Python uses too', async () => {
    const seen: number[] = []
    const dir = await resolveRepo('model', 'org/name', {
      ...options(),
      onProgress: ({ done, total }) => seen.push(done / total),
    })
    expect((await readdir(dir)).sort()).toEqual(['config.json', 'model.safetensors'])
    expect((await readFile(join(dir, 'model.safetensors'))).equals(big)).toBe(true)
    const cache = join(home, 'hub', 'models--org--name')
    expect((await readdir(cache)).sort()).toEqual(['blobs', 'refs', 'snapshots'])
    expect(dir).toBe(join(cache, 'snapshots', await readFile(join(cache, 'refs', 'main'), 'utf8')))
    expect((await readdir(join(cache, 'blobs'))).every((name) => /^[0-9a-f]{40,64}$/.test(name))).toBe(true)
    expect(seen.at(-1)).toBe(1)
  })

  it('downloads nothing twice', async () => {
    await resolveRepo('model', 'org/name', options())
    await resolveRepo('model', 'org/name', options())
    expect(hub.downloads('model.safetensors').length).toBe(1)
  })

  it('continues a cut download where it stopped', async () => {
    hub.cuts = [70_000, 50_000]
    const dir = await resolveRepo('model', 'hf://org/name', options())
    expect((await readFile(join(dir, 'model.safetensors'))).equals(big)).toBe(true)
    const ranges = hub.downloads('model.safetensors').map(({ range }) => Number(/\d+/.exec(range ?? '0')))
    expect(ranges.length).toBeGreaterThan(1)
    // a try may be cut before its first byte
    expect(ranges.every((from, i) => i === 0 || from >= ranges[i - 1])).toBe(true)
    expect(ranges.at(-1)).toBeGreaterThan(ranges[0])
  })

  it('continues after the process was gone', async () => {
    hub.cuts = [60_000, 0, 0, 0, 0, 0, 0, 0]
    await fails(resolveRepo('model', 'org/name', options()))
    hub.cuts = []
    const before = hub.downloads('model.safetensors').length
    const dir = await resolveRepo('model', 'org/name', options())
    expect(hub.downloads('model.safetensors')[before].range).toMatch(/bytes=[1-9]/)
    expect((await readFile(join(dir, 'model.safetensors'))).equals(big)).toBe(true)
  })

  it('waits out refusals that pass', async () => {
    const repo = await openRepo('model', 'org/name', options())
    hub.failures = [503, 429]
    expect(await repo.text('config.json')).toBe('{"a":1}')
  })

  it('never keeps a file whose content is not what was listed', async () => {
    hub.corrupt = true
    expect((await fails(resolveRepo('model', 'org/name', options()))).code).toBe('hub/corrupt')
    hub.corrupt = false
    const dir = await resolveRepo('model', 'org/name', options())
    expect((await readFile(join(dir, 'model.safetensors'))).equals(big)).toBe(true)
  })

  it('downloads once when two start together', async () => {
    await Promise.all([resolveRepo('model', 'org/name', options()), resolveRepo('model', 'org/name', options())])
    expect(hub.downloads('model.safetensors').length).toBe(1)
  })

  it('sends the token, and asks for one when it is missing', async () => {
    hub.token = 'secret'
    const missing = await fails(resolveRepo('model', 'org/name', options()))
    expect(missing.code).toBe('hub/unauthorized')
    expect(missing.hint).toContain('HF_TOKEN')
    await resolveRepo('model', 'org/name', options({ HF_TOKEN: 'secret' }))
    await rm(join(home, 'hub'), { recursive: true })
    await writeFile(join(home, 'token'), 'secret\n')
    await resolveRepo('model', 'org/name', options())
  })

  it('explains a gated repository', async () => {
    hub.gated = true
    expect((await fails(resolveRepo('model', 'org/name', options({ HF_TOKEN: 't' })))).hint).toContain(
      'accept its terms',
    )
  })

  it('suggests names for one that does not exist', async () => {
    const error = await fails(resolveRepo('model', 'org/nmae', options()))
    expect(error).toMatchObject({ code: 'hub/not-found', path: `${url}/org/nmae` })
    expect(error.hint).toContain("did you mean 'org/real-name'?")
    expect((await fails(openRepo('model', 'org/name', { ...options(), revision: 'v9' }))).message).toContain(
      'no such revision',
    )
  })

  it('works from the cache without network, and says what is missing', async () => {
    const never = await fails(resolveRepo('model', 'org/name', options({ HF_HUB_OFFLINE: '1' })))
    expect(never).toMatchObject({ code: 'hub/offline', path: join(home, 'hub', 'models--org--name') })
    expect(never.message).toContain('HF_HUB_OFFLINE')
    expect(hub.requests.length).toBe(0)
    const dir = await resolveRepo('model', 'org/name', options())
    const asked = hub.requests.length
    expect(await resolveRepo('model', 'org/name', options({ HF_HUB_OFFLINE: '1' }))).toBe(dir)
    expect(hub.requests.length).toBe(asked)
    await hub.stop()
    expect(await resolveRepo('model', 'org/name', options())).toBe(dir)
    const repo = await openRepo('model', 'org/name', options())
    expect(await fails(repo.download(['other.json']))).toMatchObject({ code: 'hub/offline' })
    expect((await fails(resolveRepo('dataset', 'org/name', options()))).message).toContain(
      'Hugging Face cannot be reached',
    )
  })

  it('refuses a repository that names files outside itself', async () => {
    hub.files['../../evil'] = Buffer.from('x')
    expect((await fails(resolveRepo('dataset', 'org/name', options()))).message).toContain('outside itself')
    expect((await fails(resolveRepo('dataset', 'ms://org/name', options()))).message).toContain('outside itself')
  })

  it('honors HF_HUB_CACHE', async () => {
    const cache = join(home, 'elsewhere')
    expect(await resolveRepo('model', 'org/name', options({ HF_HUB_CACHE: cache }))).toContain(cache)
  })
})

describe('ModelScope', () => {
  it.each(['model', 'dataset'] as const)('downloads a %s, with resume, once', async (kind) => {
    hub.cuts = [70_000]
    const dir = await resolveRepo(kind, 'modelscope://org/name', options())
    expect(dir).toBe(join(home, 'ms', `${kind}s`, 'org', 'name'))
    expect((await readFile(join(dir, 'model.safetensors'))).equals(big)).toBe(true)
    const asked = hub.requests.length
    await resolveRepo(kind, 'org/name', options({ TRINITY_HUB: 'modelscope' }))
    expect(hub.requests.length).toBe(asked + 1)
  })

  it('takes a file again when the branch has moved', async () => {
    await resolveRepo('model', 'ms://org/name', options())
    hub.files['config.json'] = Buffer.from('{"a":2}')
    const dir = await resolveRepo('model', 'ms://org/name', options())
    expect(await readFile(join(dir, 'config.json'), 'utf8')).toBe('{"a":2}')
  })

  it('asks for its own token', async () => {
    hub.token = 'secret'
    expect((await fails(resolveRepo('model', 'ms://org/name', options()))).hint).toContain('MODELSCOPE_API_TOKEN')
    await resolveRepo('model', 'ms://org/name', options({ MODELSCOPE_API_TOKEN: 'secret' }))
  })

  it('works from the cache without network', async () => {
    const dir = await resolveRepo('dataset', 'ms://org/name', options())
    await hub.stop()
    expect(await resolveRepo('dataset', 'ms://org/name', options())).toBe(dir)
  })
})

describe('ids and paths', () => {
  it('takes an existing path as it is', async () => {
    expect(await resolveRepo('model', home, options())).toBe(home)
    expect(await fails(resolveRepo('model', './no/such/dir', options()))).toMatchObject({ code: 'hub/not-found' })
    expect(hub.requests.length).toBe(0)
  })

  it('tells ids from paths', () => {
    for (const id of ['org/name', 'gsm8k', 'Qwen/Qwen2.5-1.5B', 'ms://a/b', 'hf://datasets/a/b'])
      expect(looksLikeRepoId(id)).toBe(true)
    for (const path of ['./a', '/a/b', 'a/b/c', '../x', '~/x', 'a b', '']) expect(looksLikeRepoId(path)).toBe(false)
  })

  it('takes a name below a folder of this place for a path, even where nothing is', async () => {
    expect(looksLikeRepoId('src/nothing-here')).toBe(false)
    expect(looksLikeRepoId('hf://src/nothing-here')).toBe(true)
    expect(await fails(resolveRepo('model', 'src/nothing-here', options()))).toMatchObject({
      code: 'hub/not-found',
      message: "there is no model at 'src/nothing-here'",
      hint: expect.stringMatching(/to mean a repository, write hf:\/\/src\/nothing-here$/),
    })
    expect(hub.requests.length).toBe(0)
  })

  it('refuses an unknown hub', async () => {
    expect(await fails(openRepo('model', 'a/b', options({ TRINITY_HUB: 'x' })))).toMatchObject({ path: 'TRINITY_HUB' })
  })

  it('picks the files of a model', () => {
    const files = ['config.json', 'pytorch_model.bin', 'tf_model.h5', 'original/x.pth', 'model.gguf', 'tokenizer.model']
    expect(modelFiles(files)).toEqual(['config.json', 'pytorch_model.bin', 'tokenizer.model'])
    expect(modelFiles([...files, 'model.safetensors'])).toEqual(['config.json', 'tokenizer.model', 'model.safetensors'])
  })
})
