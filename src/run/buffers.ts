import type { ExperienceBuffer } from '../buffer/index.js'
import { openBuffer } from '../buffer/index.js'
import type { Config, ExperienceBufferConfig } from '../config/index.js'
import { TrainingData } from '../experience/index.js'
import { Chat, type Tokenizer } from '../model/index.js'
import { type ModelText, templateOf } from '../workflow/text.js'
import { jobName } from './job-name.js'
import { claimFile } from './outside.js'

/** A busy server needs this long for a large batch, however short `sync_timeout` is. */
const LEAST_SILENCE_MS = 5000

export interface BufferNeeds {
  readonly config: Config
  readonly text: ModelText
  note(text: string): void
}

/** The buffer between explorer and trainer, or the data set that the trainer learns from. */
export function openMainBuffer(needs: BufferNeeds): Promise<ExperienceBuffer> {
  const given = needs.config.buffer.trainer_input.experience_buffer as ExperienceBufferConfig
  return open(shared(given, needs), needs)
}

/** Further data of the trainer by name; each is gone through as often as it is read. */
export async function openAuxiliaryBuffers(
  needs: BufferNeeds,
  keep: (buffer: ExperienceBuffer) => void,
): Promise<Record<string, ExperienceBuffer>> {
  const opened: Record<string, ExperienceBuffer> = {}
  for (const [name, given] of Object.entries(needs.config.buffer.trainer_input.auxiliary_buffers)) {
    opened[name] = await open({ ...given, total_epochs: given.total_epochs ?? Number.MAX_SAFE_INTEGER }, needs)
    keep(opened[name])
  }
  return opened
}

/** Makes the experiences available again that a killed trainer took for steps after the one that it resumes from. */
export async function releaseTakes(
  buffers: readonly ExperienceBuffer[],
  step: number,
  note: (text: string) => void,
): Promise<void> {
  for (const buffer of buffers) {
    const released = await buffer.releaseAfter?.(step)
    if (released) note(`buffer '${buffer.name}': ${released} experiences taken after training step ${step} return`)
  }
}

/** An explorer and a trainer that are two processes cannot share a queue in memory: they meet in its database. */
function shared(given: ExperienceBufferConfig, { config, note }: BufferNeeds): ExperienceBufferConfig {
  const apart = config.mode === 'explore' || config.mode === 'train' || config.mode === 'serve'
  if (!apart || given.storage_type !== 'queue') return given
  note(`buffer '${given.name}': two processes share it through its database ${given.path}`)
  return { ...given, storage_type: 'sql' }
}

async function open(given: ExperienceBufferConfig, { config, text, note }: BufferNeeds): Promise<ExperienceBuffer> {
  const context = {
    job: jobName(config),
    seed: config.explorer.rollout_model.seed,
    onRepair: (repair: { path?: string }) =>
      note(`buffer '${given.name}': ${repair.path ?? 'a file'} was left unfinished by a crash and has been repaired`),
    onAway: (message: string) => note(`buffer '${given.name}': ${message}`),
    // two statements that are lost one after the other must not make the other side give up
    silenceMs: Math.max(LEAST_SILENCE_MS, (config.synchronizer.sync_timeout * 1000) / 3),
  }
  const bufferConfig = { ...given, storage_type: given.storage_type ?? 'queue' }
  if (given.storage_type !== 'file' && given.path) await claimFile(config, given.path)
  if (given.storage_type !== 'file' || given.schema_type === 'experience') return openBuffer(bufferConfig, context)
  const coder = await coderOf(text, given.format.chat_template, note)
  const data = await TrainingData.open(given, coder, { maxModelLen: config.model.max_model_len ?? undefined })
  return openBuffer(bufferConfig, { ...context, source: data, order: data.order })
}

/** Plain text needs no chat template; whoever renders messages without one is told. */
async function coderOf(
  text: ModelText,
  template: string | null | undefined,
  note: (text: string) => void,
): Promise<Chat | PlainCoder> {
  if (template) {
    const chat = await Chat.of(text.tokenizer, template)
    chat.template.onToolFallback = note
    return chat
  }
  if (text instanceof Chat) return text
  if (text.template) return new Chat(text.tokenizer, text.template)
  const missing = () => templateOf(text) as never
  return { tokenizer: text.tokenizer, encode: missing, encodeWithMask: missing }
}

interface PlainCoder {
  readonly tokenizer: Tokenizer
  encode(): never
  encodeWithMask(): never
}
