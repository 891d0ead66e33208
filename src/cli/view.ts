import { existsSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { isDatabaseUrl } from '../base/database/names.js'
import { TrinityError } from '../base/error.js'
import { withoutPassword } from '../base/secret/index.js'
import { loadConfig } from '../config/load.js'
import { usePlugins } from '../plugin/use.js'
import type { ViewOptions } from '../studio/index.js'
import { jobDirs } from './job-dirs.js'
import { wholeNumber } from './number.js'
import type { ExitCode } from './print.js'
import { type StudioWorld, serveStudio } from './studio.js'

export interface ViewCommandOptions {
  url?: string
  table?: string
  tokenizer?: string
  config?: string
  schema?: string
  port?: string
  pluginDir?: string[]
  set?: string[]
}

const SCHEMAS = ['experience', 'sft'] as const
const RAW_TABLE = 'pipeline_input'

/** `trinity view`: the rollouts page of Studio on one table of experiences. */
export async function view(options: ViewCommandOptions, world: Partial<StudioWorld> = {}): Promise<ExitCode> {
  const port = wholeNumber('--port', options.port, 8502, 0, 65535)
  const schema = SCHEMAS.find((one) => one === (options.schema ?? 'experience'))
  if (!schema) {
    throw new TrinityError('cli/usage', `unknown schema '${options.schema}'`, {
      path: '--schema',
      hint: `known: ${SCHEMAS.join(', ')}`,
    })
  }
  await usePlugins(options.pluginDir)
  const fromConfig: Partial<ViewOptions> = options.config === undefined ? {} : ofConfig(options.config, options.set)
  const url = options.url ?? fromConfig.url
  if (url === undefined) {
    throw new TrinityError('cli/usage', 'give --url, or the --config of a run', {
      path: '--url',
      hint: '`trinity view --url FILE.db`: a table of experiences, in the buffer/ folder of a run',
    })
  }
  // a table of the configuration is no table of another database
  const table = options.table ?? (options.url === undefined ? fromConfig.table : undefined)
  const shown = {
    url: isDatabaseUrl(url) ? url : resolve(url),
    table,
    tokenizer: options.tokenizer ?? fromConfig.tokenizer,
  }
  return serveStudio(
    { folders: [], port, view: { ...shown, schema } },
    `Studio shows the experiences of ${withoutPassword(shown.url)}`,
    world,
  )
}

/** Where a run keeps its raw experiences; of several stages, the last that has any. */
function ofConfig(file: string, set: string[] | undefined): ViewOptions {
  const dirs = jobDirs(file, set)
  const all = loadConfig(file, { set }).stages.map(({ config }, i) => {
    const { save_input, input_save_path } = config.data_processor.experience_pipeline
    const path = input_save_path ?? join(dirs[i], 'buffer', 'explorer_output.db')
    return { keeps: save_input, url: path, tokenizer: config.model.model_path || undefined }
  })
  const keeping = all.filter(({ keeps }) => keeps)
  const found = keeping.findLast(({ url }) => isDatabaseUrl(url) || existsSync(url)) ?? keeping[0]
  if (!found) {
    throw new TrinityError('cli/usage', 'runs of this configuration keep no raw experiences', {
      path: file,
      hint: 'set data_processor.experience_pipeline.save_input, or give --url',
    })
  }
  return { url: found.url, table: RAW_TABLE, tokenizer: found.tokenizer }
}
