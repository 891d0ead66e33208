// Several processes with one PostgreSQL server, which is started for this in a folder of its own.
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import pg from 'pg'
import { format, printTable } from '../lib.mjs'
import { ServerWatch } from './postgres.mjs'
import { group } from './processes.mjs'

/** More writers that bring less than this are behind the knee. */
const GAIN = 1.1

/** Rollouts of an explorer: more than it can serve, so that its processor time is what limits it. */
const IN_FLIGHT = 4000

/** As a server of its own would be set up: it waits for the disk, and a checkpoint comes with every 4 GB. */
const FLAGS = ['-c', 'shared_buffers=1GB', '-c', 'max_wal_size=4GB', '-c', 'max_connections=300']

export async function manyProcesses(sources, folder, { explorers, writers, tokens, seconds }) {
  const { findPostgres, startPostgres } = await import(pathToFileURL(sources).href)
  const binaries = findPostgres()
  if (!binaries) {
    console.log(
      '\nseveral processes: NOT MEASURED, there is no PostgreSQL server here (Debian: apt-get install postgresql)',
    )
    return
  }
  const server = await startPostgres(binaries, FLAGS)
  // Whatever ends this process ends the server.
  const stop = () => process.kill(server.pid(), 'SIGINT')
  process.once('exit', stop)
  try {
    const base = { prompt: 256, tokens, turns: 1, toolMs: 0, batch: 256, rollouts: IN_FLIGHT }
    const measure = (file, count, more = {}) =>
      oneCase({ sources, folder, server, seconds }, file, count, { ...base, ...more })
    const explored = []
    for (const count of explorers) explored.push(await measure('explorer', count))
    explored.push(await measure('explorer', 1, { saveInput: false, label: '1, save_input: false' }))
    console.log(
      `\nexplorers with one PostgreSQL server and one reader, ${IN_FLIGHT} rollouts in flight each, 256 + ${tokens} tokens; ${seconds} s each`,
    )
    printTable(explored.map(inWords))
    const cpu = sum(explored[0].makers, 'cpu')
    console.log(`an explorer: ${Math.round((1000 * doneBy(explored[0].makers)) / cpu)} rollouts/s and core`)
    const written = []
    for (const count of writers) written.push(await measure('writer', count))
    console.log(`\nwriters: the same experiences without rollouts; ${seconds} s each`)
    printTable(written.map(inWords))
    console.log('ms: processor time for 1000 experiences (put: of the process that puts; pg: of the server)')
    sayKnee(written)
    sayBytes(written[0])
  } finally {
    process.off('exit', stop)
    await server.stop()
  }
}

async function oneCase({ sources, folder, server, seconds }, kind, count, given) {
  const { label = String(count), ...size } = given
  const name = `bench_${kind}_${count}_${size.saveInput === false ? 'lean' : 'usual'}`
  const admin = new pg.Client(server.url)
  await admin.connect()
  await admin.query(`CREATE DATABASE ${name}`)
  const url = server.url.replace(/[^/]*$/, name)
  const watch = await ServerWatch.open(server, url)
  try {
    const at = (role, i) => ({
      ...size,
      ...{ seed: i + 1, name: `${role}_${i}`, folder: join(folder, `${name}-${i}`) },
      database: `${url}?application_name=${role}`,
    })
    const makers = Array.from({ length: count }, (_, i) => ({ file: `${kind}.mjs`, size: at(kind, i) }))
    const specs = [...makers, { file: 'reader.mjs', size: at('reader', count) }]
    const server = {}
    const results = await group(sources, specs, async (wait) => {
      const before = await watch.counts()
      watch.startWaits()
      await wait(seconds)
      const after = await watch.counts()
      for (const key of Object.keys(after)) server[key] = after[key] - before[key]
      server.waits = await watch.stopWaits()
    })
    return { label, count, makers: results.slice(0, -1), reader: results.at(-1), server, size: await watch.size() }
  } finally {
    await watch.close()
    await admin.query(`DROP DATABASE ${name} WITH (FORCE)`)
    await admin.end()
  }
}

const sum = (list, key) => list.reduce((total, one) => total + one[key], 0)

function inWords(one) {
  const { label, makers, reader, server } = one
  const made = sum(makers, 'experiences')
  const done = doneBy(makers)
  const per = (ms, count = made) => format((1000 * ms) / count)
  return {
    processes: label,
    'in/s': Math.round(inPerSecond(one)),
    'out/s': Math.round((1000 * reader.experiences) / reader.ms),
    'put ms': per(sum(makers, 'cpu'), done),
    'pg put ms': per(server.explorer + server.writer),
    'pg read ms': per(server.reader, reader.experiences),
    'pg rest ms': per(server.server),
    'read ms': per(reader.cpu, reader.experiences),
    cores: format((sum(makers, 'cpu') + reader.cpu + serverMs(server)) / reader.ms),
    'at the server': server.waits
      .slice(0, 3)
      .map(({ name, share }) => `${name} ${Math.round(100 * share)} %`)
      .join(', '),
  }
}

/** Experiences of an explorer come in whole steps, its rollouts do not. */
const doneBy = (makers) => sum(makers, makers[0].rollouts === undefined ? 'experiences' : 'rollouts')
const inPerSecond = ({ makers }) => doneBy(makers) / (Math.max(...makers.map(({ ms }) => ms)) / 1000)
const serverMs = ({ explorer, writer, reader, server }) => explorer + writer + reader + server

function sayKnee(cases) {
  const rates = cases.map(inPerSecond)
  const at = rates.findIndex((rate, i) => i + 1 === rates.length || rates[i + 1] < GAIN * rate)
  const { label, makers, reader, server } = cases[at]
  const cores = availableParallelism()
  const used = (sum(makers, 'cpu') + reader.cpu + serverMs(server)) / reader.ms
  const why =
    used > 0.85 * cores
      ? `the ${cores} cores of this machine are used up (the server has ${format(serverMs(server) / reader.ms)} of them)`
      : `the processes here used ${format(used)} of ${cores} cores; at the server: ${server.waits[0]?.name}`
  console.log(`knee: ${label} ${label === '1' ? 'writer' : 'writers'}, ${Math.round(rates[at])} experiences/s; ${why}`)
  const each = (server.writer + server.server) / sum(makers, 'experiences') + server.reader / reader.experiences
  console.log(`one core of the server: about ${Math.round(1000 / each)} experiences/s in and out`)
}

function sayBytes({ makers, reader, server, size }) {
  const made = sum(makers, 'experiences')
  const bytes = {
    'to the server': sum(makers, 'sent') / made,
    'to the reader': reader.received / reader.experiences,
    'write-ahead log': server.wal / made,
    'on disk': size.bytes / size.count,
  }
  const list = Object.entries(bytes).map(([what, each]) => `${what} ${Math.round(each)}`)
  console.log(`bytes per experience: ${list.join(', ')}`)
}
