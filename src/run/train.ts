import { TrinityError } from '../base/error.js'
import type { Cut, ExperienceBuffer } from '../buffer/index.js'
import { nextCall } from '../engine/calls.js'
import type { ExplorerMark } from '../explorer/index.js'
import { NO_ROLLOUTS, sumExplorers } from '../monitor/run-counts.js'
import { spanned } from '../monitor/span/span.js'
import { ApartTrainerSync, StatusBoard, scheduleOf } from '../synchronizer/index.js'
import { Trainer, type TrainerSync } from '../trainer/index.js'
import { announced } from './announced.js'
import { openAuxiliaryBuffers, openMainBuffer, releaseTakes } from './buffers.js'
import { asksForSteps, endOf, stepsAsked } from './ending.js'
import type { Job, ModeEnd } from './job.js'
import { endedEarlier } from './marker.js'
import { openBase, openTrained, type TrainedModels } from './models.js'
import { noteResume } from './other-settings.js'
import { bufferWaits, STALL_S, watchStalls } from './stall.js'

/** The trainer alone: on a data set, or on what explorers of other processes put into a database. */
export async function runTrain(job: Job): Promise<ModeEnd> {
  const { config, view, checkpoints, logs, stop, closers, note } = job
  const context = { ...job, signal: stop.now }
  const base = await openBase(context)
  const needs = { config, text: base.text, note }
  const buffer = closers.add(await openMainBuffer(needs))
  const auxiliaryBuffers = await openAuxiliaryBuffers(needs, (one) => closers.add(one))
  const saved = await checkpoints.latest()
  const fromFile = buffer.kind === 'file'
  if (fromFile) await buffer.restore(saved?.state.buffer as Cut | undefined)
  else await releaseTakes([buffer], saved?.step ?? 0, note)
  if (!saved) await releaseTakes(Object.values(auxiliaryBuffers), 0, note)
  const expected = fromFile ? await stepsIn(buffer, config.buffer.train_batch_size, saved?.step ?? 0) : undefined
  const total = config.trainer.total_steps ?? expected
  if (total !== undefined) view.expect?.('trainer', Math.min(total, expected ?? total))
  const { ready } = await buffer.state()
  logs.logger(`${buffer.kind}_${buffer.name}`).info(`begins with ${ready} experiences`)
  if (!fromFile) await reopen(job, buffer)
  const models = await openTrained(context, base)
  const monitor = closers.add(await job.openMonitor('trainer'))
  const done = { step: saved?.step ?? 0, version: saved?.step ?? 0 }
  const { name } = config.trainer
  const board = closers.add(await StatusBoard.open({ store: checkpoints.dir, role: 'trainer', name, ...done }))
  const trainer = new Trainer({
    config,
    ...models,
    buffer,
    auxiliaryBuffers,
    sync: fromFile ? undefined : apart(job, models, buffer, board),
    checkpoints,
    snapshot: async () => ({ state: fromFile ? { buffer: await buffer.cut() } : {} }),
    monitor,
    view,
    logs,
    spans: job.spans?.lane('trainer'),
    expectedSteps: expected,
  })
  if (saved) await trainer.resume(saved, stop.now)
  monitor.rewind(saved?.step ?? -1)
  // Explorers do not repeat evaluations that they have passed. These stay true: the later steps are made again from the same
  // rows of the database, with the same weights.
  await checkpoints.discardAfter(saved?.step ?? 0, { keepEvals: !fromFile })
  if (saved) noteResume(saved, job.otherSettings, note)
  closers.add(watchStalls({ reasons: () => bufferWaits(buffer), seconds: STALL_S, note }))
  // The others hear of this process only now: what a killed one had left too much is gone.
  const run = async () => (await trainer.run(stop.now, stop.gentle)) === 'stopped'
  const stopped = fromFile ? await run() : await announced(board, () => trainer.step, run)
  const explorers = fromFile ? [] : await explorersOf(buffer)
  const explored = sumExplorers(explorers.flatMap((one) => one.counts ?? []))
  const counts = { trainer: trainer.counts, explorer: explored }
  if (stopped) return { end: 'stopped', steps: trainer.step, counts }
  const sampledTokens = explorers.reduce((sum, one) => sum + (one.sampledTokens ?? 0), 0)
  const steps = stepsAsked(config, config.trainer.total_steps ?? undefined, explored ?? NO_ROLLOUTS)
  const asked = asksForSteps(config, { sampledTokens }) ? steps : undefined
  const why = fromFile ? `the data set ended, it holds ${expected} steps` : 'the explorers ended'
  return { ...endOf(trainer.step, asked, counts, why), steps: trainer.step, counts }
}

/** Returns the states of all explorers that have written to the buffer. */
async function explorersOf(buffer: ExperienceBuffer): Promise<Partial<ExplorerMark>[]> {
  const marks = Object.values((await buffer.cut()).marks) as (Partial<ExplorerMark> | null)[]
  return marks.flatMap((mark) => mark ?? [])
}

/** The end of an earlier run is not that of this one: else a trainer that is started before its explorers ends at once. */
async function reopen({ checkpoints, config }: Job, buffer: ExperienceBuffer): Promise<void> {
  const explorers = Object.keys((await buffer.cut()).marks)
  for (const who of await endedEarlier(checkpoints, config, explorers)) await buffer.put([], { who })
}

async function stepsIn(buffer: ExperienceBuffer, batch: number, done: number): Promise<number> {
  const { ready } = await buffer.state()
  const steps = done + Math.floor(ready / Math.max(1, batch))
  if (steps > 0) return steps
  throw new TrinityError('config/nothing-to-do', `nothing to train: ${ready} rows do not fill one batch of ${batch}`, {
    path: 'buffer.train_batch_size',
    hint: `set buffer.train_batch_size to ${Math.max(1, ready)} or less`,
  })
}

function apart(
  { config, checkpoints, logs, note, spans }: Job,
  models: TrainedModels,
  buffer: ExperienceBuffer,
  board: StatusBoard,
): TrainerSync {
  const log = logs.logger('synchronizer')
  const moves = spans?.lane('synchronizer')
  const write = async (version: number, signal: AbortSignal) => {
    const call = nextCall(signal, config.synchronizer.sync_timeout * 1000)
    const { path } = await spanned(moves, ['sync', 'writes weights', version], () =>
      checkpoints.saveWeights(version, (dir) => models.policy.saveWeights(dir, call)),
    )
    log.info(`weights of training step ${version} are in ${path}`)
  }
  // Who waits at a buffer stands in its list only between two looks.
  const starved = async () => (await buffer.state()).waiting.some(({ who }) => who === 'trainer')
  const { step, version } = board.own
  return new ApartTrainerSync({ schedule: scheduleOf(config), board, note, write, starved }, step, version)
}
