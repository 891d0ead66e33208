import { cp, readdir, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convertCheckpoint } from '../../src/convert/convert.js'
import { readAdapterConfig } from '../../src/engine/native/adapter-config.js'
import { ChatTemplate, templateSource } from '../../src/model/chat-template.js'
import { createModel } from '../../src/model/create.js'
import { openModelDir } from '../../src/model/dir.js'
import { exportGguf } from '../../src/model/gguf/export.js'
import { unpackGguf } from '../../src/model/gguf/unpack.js'
import { describeModel, renderModel } from '../../src/model/info.js'
import { SafetensorsFile } from '../../src/model/safetensors.js'
import { Tokenizer } from '../../src/model/tokenizer.js'
import { saveTorch } from '../../src/model/torch-file/torch-file.fixture.js'
import { fixture, testData } from '../support/test-data.js'
import type { FileReader } from './run-files.js'

const TINY = { layers: 1, hidden: 16, heads: 2, kvHeads: 1, intermediate: 16, maxPositions: 64 }
const TEXTS = ['Hello world, 1234!', '  two  spaces\n', 'naïve Ω 你好 🎉', '<|im_end|>']
const MESSAGES = [
  { role: 'system', content: 'Be brief.' },
  { role: 'user', content: 'hi' },
  { role: 'assistant', content: 'hello' },
]

/** Opens a model as a run does: description, every tensor, tokenizer, chat template. */
async function readModel(path: string): Promise<void> {
  renderModel(await describeModel(path))
  const model = await openModelDir(path)
  try {
    for (const name of model.tensorNames()) await model.readTensor(name)
  } finally {
    await model.close()
  }
  useTokenizer(await Tokenizer.load(path))
}

function useTokenizer(tokenizer: Tokenizer): void {
  for (const text of TEXTS) tokenizer.decode(tokenizer.encode(text, { addSpecial: true }))
  if (tokenizer.chatTemplate !== undefined) useTemplate(tokenizer.chatTemplate, tokenizer.specialTokens)
}

function useTemplate(source: string, specialTokens: Readonly<Record<string, string>> = {}): void {
  const template = new ChatTemplate(source, specialTokens)
  template.render(MESSAGES, { addGenerationPrompt: true })
  template.render(MESSAGES, { tools: [{ type: 'function', function: { name: 'f', parameters: {} } }] })
}

const MODEL_FORMS = [
  [/\.json$/, 'json'],
  [/\.(safetensors|gguf|bin|pt|distcp|metadata)$/, 'binary'],
  [/\.jinja$/, 'text'],
] as const

function modelReader(
  name: string,
  sample: (dir: string) => Promise<unknown>,
  forms: FileReader['forms'] = MODEL_FORMS,
): FileReader {
  return { name, sample: (dir) => sample(dir), forms, read: readModel }
}

/** Copies a fixture without the expected values of its own test. */
async function tiny(name: string, dir: string): Promise<void> {
  await cp(fixture(name), dir, { recursive: true })
  await rm(join(dir, 'golden.json'), { force: true })
}

async function gguf(dir: string, type: 'f16' | 'q8_0'): Promise<void> {
  const original = `${dir}.model`
  await createModel({ ...TINY, hidden: 32, intermediate: 32, out: original, vocab: 300 })
  await exportGguf(original, join(dir, 'model.gguf'), { type })
  await rm(original, { recursive: true })
}

/** A checkpoint of FSDP on one rank, as veRL writes it, with the configuration of its model. */
async function fsdp(dir: string): Promise<void> {
  await createModel({ ...TINY, out: join(dir, 'base') })
  const file = await SafetensorsFile.open(join(dir, 'base', 'model.safetensors'))
  const tensors = new Map<string, { values: Float32Array; shape: readonly number[] }>()
  for (const [name, { shape }] of file.tensors) tensors.set(name, { values: await file.readFloat32(name), shape })
  await file.close()
  await rm(join(dir, 'base', 'model.safetensors'))
  await saveTorch(join(dir, 'model_world_size_1_rank_0.pt'), tensors)
}

async function convert(dir: string): Promise<void> {
  const out = `${dir}.converted`
  try {
    await convertCheckpoint(dir, out, { base: join(dir, 'base') })
  } finally {
    await rm(out, { recursive: true, force: true })
  }
}

const ADAPTER = {
  ...{ peft_type: 'LORA', r: 4, lora_alpha: 8, target_modules: ['q_proj'], bias: 'none', use_rslora: false },
  ...{ rank_pattern: { q_proj: 2 }, alpha_pattern: {}, modules_to_save: null, base_model_name_or_path: 'm' },
}

const ADDED = { '<|extra|>': 70 }
const SPECIALS = {
  eos_token: { content: '<|im_end|>', special: true },
  pad_token: '<|pad|>',
  additional_special_tokens: ['<|x|>'],
}

const stories = testData('models/stories260K/hf')
/** Recorded checkpoints, each with the model that has its configuration. */
const RECORDED: readonly (readonly [string, (base: string) => Promise<unknown>])[] = [
  ...['verl_fsdp2_world2_after1step', 'torch_dcp_world2_after1step'].map(
    (name) => [name, (base: string) => copyWithoutWeights(stories.path, base)] as const,
  ),
  ['megatron/tp1', (out) => createModel({ ...MEGATRON, out, tokenizer: { kind: 'chars', characters: 'ab' } })],
]
const MEGATRON = { layers: 2, hidden: 64, heads: 4, kvHeads: 2, intermediate: 128, vocab: 256 }

async function copyWithoutWeights(from: string, to: string): Promise<void> {
  await cp(from, to, { recursive: true })
  for (const name of await readdir(to)) if (/\.(safetensors|bin)$/.test(name)) await rm(join(to, name))
}

/** Readers of models, tokenizers, templates and checkpoints of other programs. */
export const MODEL_READERS: readonly FileReader[] = [
  ...['tiny-qwen2', 'tiny-gemma3', 'tiny-llama', 'tiny-qwen3-moe'].map((name) =>
    modelReader(name, (dir) => tiny(name, dir)),
  ),
  modelReader('sharded model', async (dir) => {
    await tiny('tiny-qwen3', dir)
    await writeFile(join(dir, 'generation_config.json'), JSON.stringify({ eos_token_id: [1, 2], temperature: 0.6 }))
  }),
  {
    name: 'tokenizer files',
    sample: async (dir) => {
      await tiny('tiny-qwen2', dir)
      for (const name of ['model.safetensors', 'config.json']) await rm(join(dir, name))
      await writeFile(join(dir, 'added_tokens.json'), JSON.stringify(ADDED))
      await writeFile(join(dir, 'special_tokens_map.json'), JSON.stringify(SPECIALS))
    },
    forms: MODEL_FORMS,
    read: async (dir) => useTokenizer(await Tokenizer.load(dir)),
    weight: 2,
  },
  {
    name: 'chat template',
    sample: async (dir) => {
      const { chat_template } = JSON.parse(await readFile(join(fixture('tiny-qwen2'), 'tokenizer_config.json'), 'utf8'))
      await writeFile(join(dir, 'chat_template.jinja'), chat_template)
    },
    forms: MODEL_FORMS,
    read: async (dir) => useTemplate((await templateSource(join(dir, 'chat_template.jinja'))).source),
  },
  {
    name: 'character tokenizer',
    sample: async (dir) => {
      const config = { char_ords: [97, 98, 0x1f642], model_max_length: 64 }
      await writeFile(join(dir, 'tokenizer_config.json'), JSON.stringify(config))
    },
    forms: MODEL_FORMS,
    read: async (dir) => useTokenizer(await Tokenizer.load(dir)),
  },
  ...(['f16', 'q8_0'] as const).map(
    (type): FileReader => ({
      name: `GGUF ${type}`,
      sample: (dir) => gguf(dir, type),
      forms: MODEL_FORMS,
      read: async (dir) => {
        await readModel(join(dir, 'model.gguf'))
        await unpackGguf(join(dir, 'model.gguf'), `${dir}.unpacked`)
        await rm(`${dir}.unpacked`, { recursive: true })
      },
      weight: 2,
    }),
  ),
  modelReader('pytorch_model.bin', async (dir) => {
    await fsdp(dir)
    await cp(join(dir, 'base'), dir, { recursive: true })
    await cp(join(dir, 'model_world_size_1_rank_0.pt'), join(dir, 'pytorch_model.bin'))
    for (const name of ['base', 'model_world_size_1_rank_0.pt']) await rm(join(dir, name), { recursive: true })
  }),
  { name: 'FSDP checkpoint', sample: fsdp, forms: MODEL_FORMS, read: convert },
  ...RECORDED.filter(([name]) => !testData(`ckpt_fixtures/${name}`).absent && !stories.absent).map(
    ([name, makeBase]): FileReader => ({
      name,
      sample: async (dir) => {
        await cp(testData(`ckpt_fixtures/${name}`).path, dir, { recursive: true })
        await makeBase(join(dir, 'base'))
      },
      forms: [[/\.(metadata|distcp|pt)$/, 'binary']],
      read: convert,
      weight: 0.2,
    }),
  ),
  {
    name: 'adapter_config.json',
    sample: (dir) => writeFile(join(dir, 'adapter_config.json'), JSON.stringify(ADAPTER)),
    forms: MODEL_FORMS,
    read: (dir) => readAdapterConfig(dir, false),
  },
]
