import { z } from 'zod'
import { TrinityError } from '../../base/error.js'
import type {
  CheckAnswer,
  CheckQuery,
  FileList,
  Form,
  SourceText,
  Started,
  StartedList,
  StartQuery,
  TemplateList,
} from '../api.js'
import type { Worker } from '../child/message.js'
import { acting, type Part } from '../part.js'
import { runId } from '../run/find.js'
import type { Runs } from '../run/runs.js'
import type { Checked } from './check.js'
import { fileAt, isBelow, realPlace } from './place.js'
import { save } from './save.js'
import { fileText, runText, savedFiles, templates, templateText } from './source.js'
import type { Starter } from './start.js'
import type { Stopper } from './stop.js'

const text = z.string().max(1 << 20)
const place = { folder: z.string(), path: z.string() }
const checkBody = z.strictObject({ text, place: z.strictObject(place).optional(), isFull: z.boolean().optional() })
const saveBody = { ...place, text, isSure: z.boolean().optional() }

export interface WriteNeeds {
  readonly runs: Runs
  readonly desk: Worker
  readonly starter: Starter
  readonly stopper: Stopper
}

/** Everything that writes a run, starts it and stops it. */
export function writeParts({ runs, desk, starter, stopper }: WriteNeeds): Part[] {
  const folders = runs.given

  /** With what only the server knows: which folders are shown. */
  async function check({ place, ...query }: CheckQuery): Promise<CheckAnswer> {
    const file = place && (await fileAt(folders, place).catch(() => undefined))
    const { stages, ...answer } = await desk.ask<Checked>('check', { ...query, file })
    const shown = await Promise.all(
      (stages ?? []).map(async (stage) => {
        const run = await idOf(stage.dir)
        const isThere = (await runs.list()).runs.some(({ id }) => id === run)
        return { ...stage, isInside: await isBelow(folders, stage.dir), ...(isThere && { run }) }
      }),
    )
    return { ...answer, ...(stages && { stages: shown }) }
  }

  async function start({ isFresh, ...query }: StartQuery): Promise<Started> {
    const { folder, path } = query
    const { ok, problems, stages = [] } = await check({ text: query.text, place: { folder, path } })
    const wrong = problems.find(({ severity }) => severity === 'error')
    if (!ok) {
      const message = wrong ? `${wrong.key}: ${wrong.message}` : 'the configuration has faults'
      throw new TrinityError('studio/faults', message, { path: wrong?.key, hint: wrong?.hint })
    }
    const away = stages.find(({ isInside }) => !isInside)
    if (away) {
      throw new TrinityError('studio/outside', `the run would be in ${away.dir}, which Studio does not show`, {
        path: 'checkpoint_root_dir',
        hint: `set checkpoint_root_dir to a folder below ${folders.join(' or ')}, or start it in a terminal`,
      })
    }
    const { file } = await save(folders, query)
    return starter.start({ file, run: await idOf(stages[0].dir), isFresh })
  }

  return [
    { path: '/form', answer: () => desk.ask<Form>('form', {}) },
    { path: '/templates', answer: async (): Promise<TemplateList> => ({ templates: await templates() }) },
    { path: '/template', answer: (query) => templateText(query.needed('name')) },
    { path: '/files', answer: async (): Promise<FileList> => ({ files: await savedFiles(folders) }) },
    {
      path: '/file',
      answer: (query) => fileText(folders, { folder: query.needed('folder'), path: query.needed('path') }),
    },
    { path: '/runs/:run/source', answer: async (_, run) => runText(folders, await runs.get(run)) },
    { path: '/started', answer: async (): Promise<StartedList> => ({ started: await starter.list() }) },
    acting('/check', checkBody, check),
    acting('/import-verl', z.strictObject({ text }), (body) => desk.ask<SourceText>('importVerl', body)),
    acting('/save', z.strictObject(saveBody), (body) => save(folders, body)),
    acting('/start', z.strictObject({ ...saveBody, isFresh: z.boolean().optional() }), start),
    acting('/runs/:run/stop', z.strictObject({ isNow: z.boolean().default(false) }), async ({ isNow }, run) =>
      stopper.stop(await runs.get(run), isNow),
    ),
  ]
}

const idOf = async (dir: string) => runId(await realPlace(dir))
