import { existsSync, readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { TrinityError } from '../base/error.js'
import type { Config, Given } from '../config/index.js'
import { DataJuicerClient, type DataJuicerService } from './data-juicer/client.js'

const WRITTEN = 'output.jsonl'

/** Whether an earlier start has made the tasks. A folder with anything else in it is not for the pipeline to write to. */
export function hasTasks(output: string): boolean {
  if (existsSync(join(output, WRITTEN))) return true
  const isFree = !existsSync(output) || (statSync(output).isDirectory() && readdirSync(output).length === 0)
  if (isFree) return false
  throw new TrinityError(
    'config/task-pipeline',
    `the task pipeline would write to ${output}, where something is already`,
    {
      path: 'data_processor.task_pipeline.output.path',
      hint: 'give output.path a folder that does not exist yet',
    },
  )
}

/**
 * Sends task files through the operators of a Data-Juicer service before a run: scores, orders, keeps the best `top_k`.
 * The service reads the inputs and writes `output.jsonl` itself, so it must see the same files. Gives its metrics.
 */
export async function runTaskPipeline(
  config: Given<NonNullable<Config['data_processor']['task_pipeline']>>,
  service: DataJuicerService | null | undefined,
  signal?: AbortSignal,
): Promise<Record<string, number>> {
  const output = config.output?.path
  if (!output) throw wrong('output.path', 'the task pipeline does not know where to write its tasks')
  if (!config.inputs?.length) throw wrong('inputs', 'the task pipeline has no input files')
  const session = await new DataJuicerClient(service ?? {}).create({
    pipeline_type: 'task',
    operators: (config.operators ?? []).map(({ name, args }) => ({ [name]: args ?? {} })),
    np: config.num_process ?? 4,
    config_path: config.config_path ?? null,
    inputs: config.inputs,
    target_fields: config.target_fields ?? [],
    output_dir: output,
    priority_weights: config.priority_weights ?? {},
    top_k: config.top_k ?? -1,
  })
  try {
    const metrics = await session.processTasks(signal)
    const written = join(output, WRITTEN)
    if (!existsSync(written)) {
      throw new TrinityError('data-juicer/answer', `the Data-Juicer service ended without writing ${written}`, {
        path: written,
        hint: 'the service must run where it can write to the folder of the task set',
      })
    }
    return metrics
  } finally {
    await session.close()
  }
}

function wrong(key: string, message: string): TrinityError {
  return new TrinityError('config/task-pipeline', message, { path: `data_processor.task_pipeline.${key}` })
}
