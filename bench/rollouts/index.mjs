// Rollouts of the torch engine beside vLLM's, both with log-probs: the same models (random weights in a published shape),
// numbers and lengths, ours before and after vLLM's, and how far each is from the least time that the device allows.
// Every number is printed when it is there, so that a run which is cut off is not lost.
import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { format, printTable } from '../lib.mjs'
import { startPeer } from '../peer/peer.mjs'
import { bound, cases, drawn, longest, small, text } from './cases.mjs'
import { openOurs } from './ours.mjs'

export const title = 'Rollouts beside vLLM'
export const about =
  'seconds of rollouts, vLLM, and the bound of the device (--only=batch,turns,…; --once: ours before vLLM only; --alone without vLLM; --small without a GPU)'

const torch = fileURLToPath(new URL('../torch/', import.meta.url))
const began = performance.now()

export async function run(options = []) {
  const only = options
    .find((one) => one.startsWith('--only='))
    ?.slice(7)
    .split(',')
  const chosen = cases
    .filter(({ name }) => !only || only.includes(name))
    .map((one) => (options.includes('--small') ? small(one) : one))
  for (const shape of new Set(chosen.map((one) => one.shape))) {
    const folder = mkdtempSync(join(tmpdir(), 'trinity-bench-'))
    try {
      await measure(
        shape,
        chosen.filter((one) => one.shape === shape),
        folder,
        { alone: options.includes('--alone'), once: options.includes('--once') },
      )
    } finally {
      rmSync(folder, { recursive: true, force: true })
    }
  }
}

async function measure(shape, work, folder, { alone, once }) {
  python('make.py', shape, folder)
  say(`${shape}: the model is made`)
  const ceilings = JSON.parse(python('ceilings.py', folder, [...new Set(work.map(rowsOf))].join(',')))
  say(
    `${ceilings.device}: ${format(ceilings.copy / 1e12)} TB/s, ${format(ceilings.rate / 1e12)} TFLOP/s; products of a step ` +
      Object.entries(ceilings.steps)
        .map(([rows, seconds]) => `${rows} rows ${format(seconds * 1000)} ms`)
        .join(', '),
  )
  const found = new Map(work.map((one) => [one, { ours: [], theirs: [] }]))
  const into = (whose) => (one, seconds) => found.get(one)[whose].push(seconds)
  const ours = () => side('ours', () => openOurs(folder), work, into('ours'))
  await ours()
  if (!alone) await side('vLLM', () => openPeer(folder, work), work, into('theirs'))
  if (!alone && !once) await ours()
  report(shape, folder, found, ceilings)
}

/** One side with all of its cases, each after a short one of the same size; what fails is said and does not end the rest. */
async function side(name, open, work, note) {
  let peer
  try {
    peer = await open()
    say(`${name}: started in ${format(peer.started)} s${peer.version ? `, ${peer.version}` : ''}`)
    for (const [i, one] of work.entries()) {
      await peer.run({ ...one, response: Math.min(one.response, 24), turns: Math.min(one.turns, 2), seed: 2 * i + 1 })
      const { seconds, tokens, cached } = await peer.run({ ...one, seed: 2 * i + 2 })
      note(one, seconds)
      say(`${name}: ${one.name} (${text(one)}) ${format(seconds)} s, ${tokens} tokens, ${cached} found in the cache`)
    }
  } catch (error) {
    say(`${name}: FAILED: ${error.message}`)
    await peer?.kill?.()
  }
  await peer?.close()
}

/** vLLM, in the form of `openOurs`. */
async function openPeer(folder, work) {
  const peer = startPeer('rollouts_vllm.py')
  const length = 64 * Math.ceil((Math.max(...work.map(longest)) + 64) / 64)
  const sequences = Math.max(...work.map(rowsOf))
  let opened
  try {
    opened = await peer.call({ cmd: 'open', model: folder, length, sequences }, { seconds: 240 })
  } catch (error) {
    await peer.kill()
    throw error
  }
  return {
    started: opened.seconds,
    version: `vLLM ${opened.vllm}, torch ${opened.torch}`,
    close: () => peer.close(),
    kill: () => peer.kill(),
    async run({ prompts, answers, prompt, response, turns, added, seed }) {
      return peer.call({ cmd: 'run', prompts, answers, prompt, response, turns, added, seed }, { seconds: 120 })
    },
  }
}

function report(shape, folder, found, ceilings) {
  const rows = [...found].map(([one, { ours, theirs }]) => {
    const mine = ours.reduce((sum, seconds) => sum + seconds, 0) / ours.length
    const { reading, computing, least } = bound(folder, one, ceilings)
    return {
      case: `${one.name}: ${text(one)}`,
      ours: ours.map(format).join(' and '),
      vLLM: theirs.map(format).join(''),
      '×': theirs.length > 0 ? format(theirs[0] / mine) : '',
      bound: format(least),
      'by reading': format(reading),
      'by products': format(computing),
      'ours, % of it': format((100 * least) / mine),
      'vLLM, %': theirs.length > 0 ? format((100 * least) / theirs[0]) : '',
      'tokens/s': format(drawn(one) / mine),
    }
  })
  console.log(`\n${shape}, seconds`)
  printTable(rows)
}

function rowsOf({ prompts, answers }) {
  return prompts * answers
}

function python(script, ...args) {
  const command = process.env.TRINITY_PYTHON ?? 'python3'
  const { status, stdout, stderr } = spawnSync(command, [join(torch, script), ...args], { encoding: 'utf8' })
  if (status !== 0) throw new Error(`${script}: ${stderr.slice(-2000)}`)
  return stdout.trim().split('\n').at(-1)
}

function say(line) {
  console.log(`${((performance.now() - began) / 1000).toFixed(0).padStart(4)} s  ${line}`)
}
