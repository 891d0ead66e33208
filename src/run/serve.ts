import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import { atomicFile } from '../base/file/atomic-file.js'
import type { Logger } from '../base/log/logger.js'
import { urlName } from '../checkpoint/layout.js'
import type { Config } from '../config/index.js'
import { nextCall } from '../engine/calls.js'
import type { Gateway } from '../gateway/index.js'
import { Commits, History, Rotation, Service, servedName, visits, WeightWatch } from '../serve/index.js'
import { StatusBoard, scheduleOf, takeLatest } from '../synchronizer/index.js'
import type { WeightSource } from '../synchronizer/take-latest.js'
import { announced } from './announced.js'
import { openMainBuffer } from './buffers.js'
import type { Job, ModeEnd } from './job.js'
import { jobName } from './job-name.js'
import { openAuxiliary, openBase, openSamplers } from './models.js'
import { claimFile } from './outside.js'
import { openPipeline } from './pipeline.js'
import { openServeGateway } from './serve-gateway.js'

const DAY_S = 86_400
/** Interval between two looks for answers that are too old. */
const EXPIRE_MS = 3_600_000

/** An explorer that runs no tasks: agents elsewhere call the model, and say what its answers were worth. */
export async function runServe(job: Job): Promise<ModeEnd> {
  const { config, checkpoints, logs, stop, closers, note, view } = job
  const { name } = config.explorer
  const log = logs.logger(name)
  let service: Service | undefined
  let visit: ReturnType<typeof visits> | undefined
  const serving = <T>(one: T | undefined): T => {
    if (one === undefined) throw new TrinityError('gateway/paused', 'the server is starting', { hint: 'try again' })
    return one
  }
  // First of all: a port that is taken is told before a model is opened. It refuses calls until all is there.
  const gateway = closers.add(
    await openServeGateway(job, {
      visitors: { open: () => serving(visit)(), models: [servedName(config)] },
      extension: {
        posts: {
          '/feedback': async (body) => serving(service).feedback(body),
          '/commit': async (body) => serving(service).commit(body),
        },
        metrics: () => service?.metrics() ?? {},
      },
    }),
  )
  gateway.pause()
  const context = { ...job, signal: stop.now }
  const base = await openBase(context)
  const buffer = closers.add(await openMainBuffer({ config, text: base.text, note }))
  const samplers = await openSamplers(context, base)
  const auxiliary = await openAuxiliary(context, base)
  const pipeline = closers.add(await openPipeline(config, buffer, auxiliary))
  const monitor = closers.add(await job.openMonitor('explorer'))
  const url = config.explorer.db_url as string
  await claimFile(config, url)
  const history = closers.add(await History.open(url, { who: name, job: jobName(config), onAway: note }))
  if (config.explorer.proxy_history_days > 0) closers.add(expireHistory(history, config.explorer, log))
  const paired = config.synchronizer.sync_style === 'fixed'
  const commits = await Commits.open({ history, pipeline, buffer, who: name, paired })
  await buffer.put([], { who: name })
  monitor.rewind(commits.step)
  if (commits.step > 0) note(`resumes after commit ${commits.step}`)

  const { min_running_model_num: least, max_timeout } = config.explorer
  const rotation = new Rotation(samplers, { least, waitMs: max_timeout * 1000 })
  const board = closers.add(await StatusBoard.open({ store: checkpoints.dir, role: 'explorer', name }))
  const source: WeightSource = {
    latest: async () => (await checkpoints.latestWeights()) ?? { step: 0, path: base.dir, full: false },
    load: async ({ path, step }, _, signal) => {
      const deadlineMs = config.synchronizer.sync_timeout * 1000
      await rotation.update(
        (one, inFlight) => one.loadWeights(path, step, inFlight, nextCall(signal, deadlineMs)),
        signal,
      )
      log.info(`weights of training step ${step} from ${path}`)
    },
  }
  const version = (await takeLatest(source, -1, 'finish', stop.now)) ?? 0
  const watch = new WeightWatch(
    {
      ...source,
      newest: async () => (await checkpoints.newestWeights())?.step ?? 0,
      board,
      intervalMs: config.explorer.service_status_check_interval * 1000,
      asks: scheduleOf(config).sync_style === 'explorer_driven',
      step: () => commits.step,
      note,
    },
    version,
  )
  service = new Service({ history, commits, samplers: rotation, monitor, view })
  visit = visits({ config, sampler: rotation, text: base.text, history, log })
  await announced(
    board,
    () => commits.step,
    async () => {
      await publish(job, gateway.url)
      gateway.resume()
      view.phase('explorer', `serves at ${gateway.url}`)
      note(`${servedName(config)} is served at ${gateway.url}/v1`)
      await watch.run(stop.gentle)
      await drained(job, gateway)
      // before what it writes to
      await gateway.close()
      await commits.idle()
      return true
    },
  )
  return { end: 'stopped', steps: commits.step }
}

/** Deletes old answers without feedback, now and every hour. */
function expireHistory(
  history: History,
  { proxy_history_days }: Config['explorer'],
  log: Logger,
): { close(): Promise<void> } {
  const expire = async () => {
    const gone = await history.expire(proxy_history_days * DAY_S)
    if (gone > 0) log.info(`deleted ${gone} answers without feedback that were older than ${proxy_history_days} days`)
  }
  const tick = () => expire().catch((error) => log.error('old answers could not be deleted', error))
  let latest = tick()
  const timer = setInterval(() => {
    latest = tick()
  }, EXPIRE_MS)
  timer.unref()
  return {
    async close() {
      clearInterval(timer)
      await latest
    },
  }
}

/** Says where the server is, as long as it is there. */
async function publish({ checkpoints, closers, config }: Job, url: string): Promise<void> {
  const file = join(checkpoints.dir, urlName(config.explorer.name))
  closers.defer(() => rm(file, { force: true }))
  await atomicFile(file, (handle) => handle.writeFile(url))
}

/** Takes no more calls, and lets those that have begun come to their end. */
async function drained({ stop, note }: Job, gateway: Gateway): Promise<void> {
  const { callsInFlight } = gateway.stats
  if (callsInFlight > 0) note(`${callsInFlight} calls are under way: the server waits for them`)
  await gateway.drain(stop.now)
  stop.now.throwIfAborted()
}
