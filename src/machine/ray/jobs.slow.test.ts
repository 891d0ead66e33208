import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { RayCluster, rayPython } from '../../../test/support/ray.js'
import { followJob } from './follow.js'
import { RayJobs } from './jobs.js'

describe.skipIf(rayPython.absent)(`jobs of a real Ray${rayPython.note}`, () => {
  let cluster: RayCluster
  let jobs: RayJobs
  beforeAll(async () => {
    cluster = await RayCluster.start([1], { dashboard: true })
    jobs = new RayJobs(cluster.dashboard)
  }, 900_000)
  afterAll(() => {
    jobs?.close()
    cluster?.close()
  })
  const submit = (id: string, entrypoint: string) =>
    jobs.submit({ id, entrypoint, env: { RAY_JOB_STOP_WAIT_TIME_S: '20', ASKED: 'yes' }, metadata: { name: id } })

  it('are followed to their exit code', async () => {
    expect(await jobs.version()).toMatch(/^\d+\.\d+/)
    const id = await submit('ends', 'echo asked $ASKED; sleep 2; echo last; exit 3')
    let text = ''
    const end = await followJob(jobs, id, { write: (piece) => (text += piece) })
    expect(end).toMatchObject({ status: 'FAILED', exitCode: 3 })
    expect(text).toMatch(/asked yes\n(.*\n)*last\n/)
    // Ray tells the command too
    expect(text.match(/^last$/gm)).toHaveLength(1)
  }, 120_000)

  it('say what they write while they run', async () => {
    const id = await submit('tells', 'echo first; sleep 600')
    while ((await jobs.job(id)).status !== 'RUNNING') await new Promise((resolve) => setTimeout(resolve, 500))
    const stop = new AbortController()
    let text = ''
    for await (const piece of jobs.tail(id, stop.signal)) {
      text += piece
      if (text.includes('first\n')) break
    }
    stop.abort()
    await jobs.stop(id)
  }, 120_000)

  it('are asked to stop, and have the time to do so', async () => {
    const id = await submit('stops', 'trap "sleep 5; echo saved; exit 0" TERM; while true; do sleep 0.2; done')
    let text = ''
    let isAsked = false
    const end = followJob(jobs, id, { write: (piece) => (text += piece) })
    while (!isAsked) {
      await new Promise((resolve) => setTimeout(resolve, 500))
      if ((await jobs.job(id)).status !== 'RUNNING') continue
      isAsked = true
      // the shell needs a moment for its trap
      await new Promise((resolve) => setTimeout(resolve, 2000))
      await jobs.stop(id)
    }
    expect((await end).status).toBe('STOPPED')
    expect(text).toContain('saved\n')
  }, 120_000)
})
