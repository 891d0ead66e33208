import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { bytes } from '../base/bytes.js'
import { TrinityError } from '../base/error.js'
import { atomicFile, writeJsonFile } from '../base/file/atomic-file.js'
import { makeFolder } from '../base/file/make-folder.js'
import { inWords } from '../base/file/system-error.js'
import { freeShare, type LengthTrial, largestOf, lengthSvg, searchLength, tryLength } from '../benchmark/index.js'
import { decimal, wholeNumber } from './number.js'
import type { ExitCode } from './print.js'

export interface LengthFlags {
  model?: string
  config?: string
  start?: string
  step?: string
  most?: string
  memory?: string
  timeout?: string
  out: string
  set?: string[]
}

const CONFIG = fileURLToPath(new URL('../../examples/benchmark/context_length.yaml', import.meta.url))
const WORDS = { trained: 'trained', memory: 'not enough memory', time: 'took too long' }
const MOST = 131_072

/** `trinity find-context-length`: the longest sequences that a machine can train a model with. */
export async function findContextLength(flags: LengthFlags): Promise<ExitCode> {
  const start = wholeNumber('--start', flags.start, 4096, 2)
  const step = wholeNumber('--step', flags.step, start, 2)
  const most = wholeNumber('--most', flags.most, MOST, step)
  const memoryBytes = flags.memory === undefined ? freeShare() : decimal('--memory', flags.memory, 0) * 2 ** 30
  const timeoutSeconds = decimal('--timeout', flags.timeout, 2400)
  const dir = resolve(flags.out)
  await inWords(makeFolder(dir), dir)
  const model = flags.model === undefined ? [] : [`model.model_path=${flags.model}`]
  const set = [`checkpoint_root_dir=${join(dir, 'checkpoints')}`, ...model, ...(flags.set ?? [])]
  const trial = async (length: number) => {
    const log = join(dir, `model_len-${length}.log`)
    const program = [process.execPath, process.argv[1]]
    const config = flags.config ?? CONFIG
    const end = await tryLength({ program, config, set, length, memoryBytes, timeoutSeconds, log })
    process.stdout.write(`${lineOf(end)}\n`)
    return end
  }
  const trials = await searchLength({ start, step, most }, trial)
  const largest = largestOf(trials)
  const chart = join(dir, 'context-length.svg')
  await atomicFile(chart, (handle) => handle.writeFile(lengthSvg(trials)))
  await writeJsonFile(join(dir, 'context-length.json'), { largest, memory_bytes: memoryBytes, trials })
  if (largest === 0) {
    throw new TrinityError(
      'benchmark/length',
      `not even ${Math.min(...trials.map(({ length }) => length))} tokens can be trained`,
      {
        path: '--start',
        hint: 'begin with less, or give the model LoRA, offloading or more GPUs with --set',
      },
    )
  }
  process.stdout.write(
    `\nlongest that trains: ${largest} tokens (within ${bytes(memoryBytes)} of main memory)\n${chart}\n`,
  )
  return 0
}

function lineOf({ length, end, peakBytes = 0 }: LengthTrial): string {
  return `${String(length).padStart(8)}  ${WORDS[end].padEnd(18)} ${bytes(peakBytes)}`
}
