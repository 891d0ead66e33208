import type { Config } from '../config/index.js'
import { nextCall } from '../engine/calls.js'
import type { ExplorerSync } from '../explorer/index.js'
import { spanned } from '../monitor/span/span.js'
import { openLink, Synchronizer, type SyncState, scheduleOf, type Transfer } from '../synchronizer/index.js'
import { Trainer } from '../trainer/index.js'
import { openAuxiliaryBuffers, openMainBuffer, releaseTakes } from './buffers.js'
import { asksForSteps, endOf, stepsAsked } from './ending.js'
import { makeExplorer } from './explorer.js'
import { evaluateFinal, leftToFinal } from './final-evaluation.js'
import { horizonOf } from './horizon.js'
import type { Job, ModeEnd } from './job.js'
import { openAuxiliary, openBase, openSamplers, openTrained } from './models.js'
import { noteResume } from './other-settings.js'
import { openPipeline } from './pipeline.js'
import { cutOf, loadSamplers, snapshotOf, startSamplers, stepOf } from './resume.js'
import { runSides } from './sides.js'
import { bufferWaits, STALL_S, watchStalls } from './stall.js'
import { expectedSteps, lastStep, openEvalTasksets, openScheduler } from './tasks.js'

/** Explorer and trainer in this process: two loops that share the buffer and the synchronizer, and nothing else. */
export async function runBoth(job: Job): Promise<ModeEnd> {
  const { config, view, checkpoints, logs, stop, closers, note } = job
  const scheduler = await openScheduler(config, closers)
  const evalTasksets = await openEvalTasksets(config, closers)
  const expected = expectedSteps(config, scheduler)
  view.expect?.('explorer', scheduler.steps)
  const last = lastStep(config)
  const total = last ?? expected
  if (total !== undefined) view.expect?.('trainer', Math.min(total, expected ?? total))
  const context = { ...job, signal: stop.now }
  const base = await openBase(context)
  const needs = { config, text: base.text, note }
  const buffer = closers.add(await openMainBuffer(needs))
  const auxiliaryBuffers = await openAuxiliaryBuffers(needs, (one) => closers.add(one))
  const models = await openTrained(context, base)
  const samplers = await openSamplers(context, base, models.policy)
  const auxiliary = await openAuxiliary(context, base)
  view.phase('model', 'preparing the first step')
  const pipeline = closers.add(await openPipeline(config, buffer, auxiliary))
  const monitors = {
    explorer: closers.add(await job.openMonitor('explorer')),
    trainer: closers.add(await job.openMonitor('trainer')),
  }

  const link = openLink(
    {
      from: models.policy,
      to: [...new Set(samplers)],
      sends: await base.engine(config.trainer.trainer_type),
      takes: await base.engine(config.explorer.rollout_model.engine_type),
    },
    {
      method: config.synchronizer.sync_method,
      write: async (version, write) => (await checkpoints.saveWeights(version, write)).path,
    },
  )
  // The weights that everything starts from are version 0.
  await startSamplers(samplers, link, base.dir, stop.now)
  const saved = await checkpoints.latest()
  const { cut, mark } = cutOf(saved, config)
  const syncState = saved?.state.sync as SyncState | undefined
  const syncLog = logs.logger('synchronizer')
  const moves = job.spans?.lane('synchronizer')
  const transfer: Transfer = async (version, inFlight, signal) => {
    const { ms } = await spanned(moves, ['sync', 'moves weights', version], () =>
      link.transfer(version, inFlight, call(config, signal)),
    )
    syncLog.info(`weights of training step ${version} to the samplers by ${link.way} in ${ms.toFixed(1)} ms`)
  }
  const waits = async () => (await buffer.state()).waiting
  const sync = new Synchronizer(
    {
      schedule: scheduleOf(config),
      timeoutMs: config.synchronizer.sync_timeout * 1000,
      transfer,
      starved: async () => (await waits()).some(({ who }) => who === 'trainer'),
      blocked: async () => (await waits()).some(({ who }) => who === config.explorer.name),
      note,
    },
    syncState,
    stepOf(saved),
  )

  const explorer = makeExplorer(job, {
    model: samplers,
    text: base.text,
    place: base.place,
    auxiliary,
    scheduler,
    evalTasksets,
    pipeline,
    buffer,
    sync: explorerSide(sync),
    monitor: monitors.explorer,
    leftToFinal: leftToFinal(config, last),
  })
  const trainer = new Trainer({
    config: { ...config, trainer: { ...config.trainer, total_steps: last ?? null } },
    ...models,
    buffer,
    auxiliaryBuffers,
    sync: {
      whileWaiting: (arrived) => sync.trainerWaits(arrived),
      afterStep: (step, signal) => sync.trainerAfterStep(step, signal),
    },
    horizon: horizonOf(config),
    checkpoints,
    snapshot: snapshotOf({ config, buffer, pipeline, sync, sampler: samplers[0] }),
    monitor: monitors.trainer,
    view,
    logs,
    spans: job.spans?.lane('trainer'),
    expectedSteps: expected,
  })

  // From here on everything is what it was when the checkpoint was written, or as before the first step.
  const { ready, voided } = await buffer.restore(cut)
  logs.logger(`${buffer.kind}_${buffer.name}`).info(`begins with ${ready} experiences; ${voided} are made again`)
  await pipeline.restore(mark)
  explorer.restore(mark)
  // The explorer goes on: the end of the data that an earlier run may have announced is not the end.
  await buffer.put([], { who: config.explorer.name, step: mark?.step ?? 0 })
  if (saved) await trainer.resume(saved, stop.now)
  else await releaseTakes(Object.values(auxiliaryBuffers), 0, note)
  await loadSamplers(samplers, link, saved, sync.version, stop.now)
  monitors.explorer.rewind(mark?.step ?? -1)
  monitors.trainer.rewind(saved?.step ?? -1)
  await checkpoints.discardAfter(saved?.step ?? 0)
  if (saved) noteResume(saved, job.otherSettings, note)

  closers.add(
    watchStalls({ reasons: async () => [...sync.waiting(), ...(await bufferWaits(buffer))], seconds: STALL_S, note }),
  )
  const { end } = await runSides({ explorer, trainer, sync, stop })
  const done = () => ({ steps: trainer.step, counts: { trainer: trainer.counts, explorer: explorer.counts } })
  if (end === 'stopped') return { end, ...done() }
  await sync.giveLast(stop.now)
  const begin = () => view.phase('explorer', 'final evaluation')
  await evaluateFinal({ config, explorer, trained: trainer.step, end, signal: stop.now, begin })
  const asked = asksForSteps(config, explorer.mark) ? stepsAsked(config, total, explorer.counts) : undefined
  const { steps, counts } = done()
  return { ...endOf(steps, asked, counts), steps, counts }
}

function call(config: Config, signal: AbortSignal) {
  return nextCall(signal, config.synchronizer.sync_timeout * 1000)
}

function explorerSide(sync: Synchronizer): ExplorerSync {
  return {
    get version() {
      return sync.version
    },
    afterStep: (step, signal) => sync.explorerAfterStep(step, signal),
  }
}
