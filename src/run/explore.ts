import type { Logger } from '../base/log/logger.js'
import type { SavedWeights } from '../checkpoint/index.js'
import { nextCall } from '../engine/calls.js'
import type { InFlight, SampleModel } from '../engine/contract.js'
import type { ExplorerMark } from '../explorer/index.js'
import { spanned } from '../monitor/span/span.js'
import type { SpanFile } from '../monitor/span/span-file.js'
import { ApartExplorerSync, StatusBoard, scheduleOf, takeLatest } from '../synchronizer/index.js'
import { announced } from './announced.js'
import { openMainBuffer } from './buffers.js'
import { asksForSteps, endOf } from './ending.js'
import { makeExplorer } from './explorer.js'
import { evaluateFinal, evaluatesFinal, leftToFinal } from './final-evaluation.js'
import type { Job, ModeEnd } from './job.js'
import { FinishMarker } from './marker.js'
import { openAuxiliary, openBase, openSamplers } from './models.js'
import { openPipeline } from './pipeline.js'
import { bufferWaits, STALL_S, watchStalls } from './stall.js'
import { RunOver } from './stop.js'
import { lastStep, openEvalTasksets, openScheduler } from './tasks.js'

/** The explorer alone: a trainer of another process reads the database and leaves its weights in the job directory. */
export async function runExplore(job: Job): Promise<ModeEnd> {
  const { config, view, checkpoints, logs, stop, closers, note } = job
  const { name } = config.explorer
  const scheduler = await openScheduler(config, closers)
  view.expect?.('explorer', scheduler.steps)
  const evalTasksets = await openEvalTasksets(config, closers)
  const context = { ...job, signal: stop.now }
  const base = await openBase(context)
  const buffer = closers.add(await openMainBuffer({ config, text: base.text, note }))
  const samplers = await openSamplers(context, base)
  const auxiliary = await openAuxiliary(context, base)
  const pipeline = closers.add(await openPipeline(config, buffer, auxiliary))
  const monitor = closers.add(await job.openMonitor('explorer'))
  // Before the first weights are read: a trainer that comes after this has gone back to its checkpoint.
  const board = await StatusBoard.open({ store: checkpoints.dir, role: 'explorer', name })
  closers.add(board)

  const source = {
    // A trainer that has lost all its steps starts where everything starts from.
    latest: async () => (await checkpoints.latestWeights()) ?? { step: 0, path: base.dir, full: false },
    load: loader(samplers, config.synchronizer.sync_timeout * 1000, logs.logger('synchronizer'), job.spans),
  }
  const version = (await takeLatest(source, -1, 'finish', stop.now)) ?? 0
  const over = new AbortController()
  const sync = new ApartExplorerSync(
    {
      schedule: scheduleOf(config),
      timeoutMs: config.synchronizer.sync_timeout * 1000,
      board,
      note,
      ...source,
      finished: () => FinishMarker.ofTrainer(checkpoints, config).read(),
      trainerEnded: (step) => {
        note(`the trainer ended after step ${step}: the explorer ends too`)
        over.abort(new RunOver('the trainer has ended'))
      },
    },
    version,
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
    sync,
    monitor,
    leftToFinal: leftToFinal(config, lastStep(config)),
  })

  // Rows that are in the database stay; the mark of the last of them says where to go on.
  const mark = (await buffer.cut()).marks[name] as ExplorerMark | undefined
  explorer.restore(mark)
  const { ready } = await buffer.state()
  logs.logger(`${buffer.kind}_${buffer.name}`).info(`begins with ${ready} experiences`)
  await new FinishMarker(checkpoints, config).clear()
  await buffer.put([], { who: name })
  monitor.rewind(mark?.step ?? -1)
  if (mark) note(`resumes after step ${mark.step}`)
  closers.add(watchStalls({ reasons: () => bufferWaits(buffer), seconds: STALL_S, note }))
  const finish = async () => {
    if (!evaluatesFinal(config)) return
    view.phase('explorer', 'waiting for the last weights')
    await sync.takeLast(explorer.step, AbortSignal.any([stop.now, stop.gentle]))
    stop.now.throwIfAborted()
    if (stop.gentle.aborted) return
    const end = over.signal.aborted ? 'total_steps' : 'end_of_data'
    const begin = () => view.phase('explorer', 'final evaluation')
    await evaluateFinal({ config, explorer, trained: sync.version, end, signal: stop.now, begin })
  }
  const stopped = await announced(
    board,
    () => explorer.step,
    async () => {
      try {
        await explorer.run(AbortSignal.any([stop.now, over.signal]), stop.gentle)
      } catch (error) {
        if (!over.signal.aborted || stop.now.aborted) throw error
      }
      if (!stop.gentle.aborted) await finish()
      return stop.gentle.aborted
    },
  )
  const steps = explorer.mark?.step ?? 0
  const counts = { explorer: explorer.counts }
  if (stopped) return { end: 'stopped', steps, counts }
  // an explorer that its trainer has ended is not asked for more
  const asked = asksForSteps(config, explorer.mark) && !over.signal.aborted ? scheduler.steps : undefined
  return { ...endOf(steps, asked, counts, 'the tasks ended'), steps, counts }
}

function loader(samplers: readonly SampleModel[], deadlineMs: number, log: Logger, spans?: SpanFile) {
  const moves = spans?.lane('synchronizer')
  return async ({ path, step }: SavedWeights, inFlight: InFlight, signal: AbortSignal) => {
    await spanned(moves, ['sync', 'loads weights', step], async () => {
      for (const sampler of new Set(samplers)) {
        await sampler.loadWeights(path, step, inFlight, nextCall(signal, deadlineMs))
      }
    })
    log.info(`weights of training step ${step} from ${path} to the samplers`)
  }
}
