import { afterEach, expect, it } from 'vitest'
import { type Answer, fakeDashboard } from './dashboard.fixture.js'
import { followJob } from './follow.js'
import { RayJobs } from './jobs.js'

const open: (() => void)[] = []
afterEach(() => {
  for (const close of open.splice(0)) close()
})

async function jobsWith(answers: Readonly<Record<string, readonly Answer[]>>, env: Record<string, string> = {}) {
  const dashboard = await fakeDashboard(answers)
  const jobs = new RayJobs(dashboard.url, env)
  open.push(dashboard.close, () => jobs.close())
  return { jobs, ...dashboard }
}

const job = { id: 'a b', entrypoint: 'true', env: { X: '1' }, metadata: {} }

it('submits, with the token of the cluster', async () => {
  const { jobs, asked } = await jobsWith(
    { 'POST /api/jobs/': [{ submission_id: 'a b' }] },
    { RAY_AUTH_TOKEN: 'token-of-ray' },
  )
  expect(await jobs.submit(job)).toBe('a b')
  expect(asked[0].token).toBe('Bearer token-of-ray')
  expect(JSON.parse(asked[0].body)).toMatchObject({ submission_id: 'a b', runtime_env: { env_vars: { X: '1' } } })
})

it('says what it is that does not answer, or answers something else', async () => {
  const { jobs } = await jobsWith({ 'GET /api/version': ['<html><title>Hello</title>'], 'POST /api/jobs/': ['{}'] })
  await expect(jobs.version()).rejects.toMatchObject({ code: 'ray/answer' })
  await expect(jobs.submit(job)).rejects.toMatchObject({ code: 'ray/answer' })
  await expect(jobs.job('x')).rejects.toMatchObject({
    code: 'ray/not-found',
    hint: expect.stringContaining('dashboard'),
  })
  const nobody = new RayJobs('http://127.0.0.1:9', {})
  await expect(nobody.version({ retries: 0 })).rejects.toMatchObject({
    code: 'ray/unreachable',
    hint: expect.stringContaining('ray start --head'),
  })
})

it('does not submit twice what may have been taken', async () => {
  const { jobs, asked } = await jobsWith({ 'POST /api/jobs/': [{ status: 500, body: 'Traceback' }] })
  await expect(jobs.submit(job)).rejects.toMatchObject({ code: 'ray/failed' })
  expect(asked).toHaveLength(1)
})

it('waits for a head that cannot start jobs yet', async () => {
  const early = { status: 500, body: 'No available agent to submit job, please try again later.' }
  const { jobs, asked } = await jobsWith({ 'POST /api/jobs/': [early, { submission_id: 'a b' }] })
  expect(await jobs.submit(job)).toBe('a b')
  expect(asked).toHaveLength(2)
})

it('follows a job to its end, past answers that did not come', async () => {
  const { jobs } = await jobsWith({
    'GET /api/jobs/a%20b': [
      { status: 'PENDING' },
      { status: 'RUNNING' },
      { status: 'RUNNING' },
      { status: 'FAILED', driver_exit_code: 7, message: 'why' },
    ],
    // it breaks off, and the rest is asked for
    'GET /api/v0/logs/stream?submission_id=a+b&lines=-1': ['one\r\ntw'],
    'GET /api/jobs/a%20b/logs': [
      { status: 503, body: 'busy' },
      { status: 503, body: 'busy' },
      { status: 503, body: 'busy' },
      { logs: 'one\ntwo\nthree\n' },
    ],
  })
  let text = ''
  const end = await followJob(jobs, 'a b', { write: (piece) => (text += piece), pollMs: 1 })
  expect(text.replaceAll('\r', '')).toBe('one\ntwo\nthree\n')
  expect(end).toEqual({ status: 'FAILED', hasEnded: true, exitCode: 7, message: 'why' })
}, 20_000)

it('gives up on a head that stays away, and on a job that nobody knows', async () => {
  const { jobs, close } = await jobsWith({
    'GET /api/jobs/x': [{ status: 'RUNNING' }],
    'GET /api/jobs/x/logs': [{ logs: '' }],
  })
  const write = () => {}
  await expect(followJob(jobs, 'y', { write, pollMs: 1 })).rejects.toMatchObject({ code: 'ray/not-found' })
  const followed = followJob(jobs, 'x', { write, pollMs: 1, awayMs: 10 })
  setTimeout(close, 20)
  await expect(followed).rejects.toMatchObject({ code: expect.stringMatching(/ray\/(unreachable|cut)/) })
}, 20_000)
