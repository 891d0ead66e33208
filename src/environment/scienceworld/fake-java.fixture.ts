import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { tempDir } from '../../../test/support/temp-dir.js'
import { zipped } from '../../base/file/zip.fixture.js'

/** A file that passes for the simulator's. */
export async function fakeJar(version = '1.2.3', main = 'scienceworld/runtime/pythonapi/PythonInterface.class') {
  const path = join(await tempDir(), 'scienceworld.jar')
  const manifest = `Manifest-Version: 1.0\r\nSpecification-Version: ${version}\r\n`
  await writeFile(path, zipped({ 'META-INF/MANIFEST.MF': manifest, [main]: '' }))
  return path
}

/** A JAVA_HOME whose program speaks py4j's protocol as the simulator does, and goes wrong when an action says so. */
export async function fakeJavaHome(program = PROGRAM): Promise<string> {
  const home = await tempDir()
  await mkdir(join(home, 'bin'))
  await writeFile(join(home, 'bin', 'java'), `#!${process.execPath}\n${program}`, { mode: 0o755 })
  return home
}

const PROGRAM = `
const { createServer } = require('node:net')
process.stdin.resume().on('end', () => process.exit(0))
let objects = 0
const answers = {
  taskMaker: '!yro0',
  getTaskNames: '!ylo0',
  join: '!ysboil\\\\nfind-plant\\\\nfreeze',
  getTaskMaxVariations: '!yi30',
  load: '!ys',
  getSimplificationsUsed: '!ysopenDoors',
  getTaskDescription: '!ysYour task is to wait.',
  getScore: '!yd0.25',
  getCompleted: '!ybfalse',
  getNumMoves: '!yi1',
  count: '!yL5',
  parseSimplificationStr: '!yro1',
  toString: '!ysjava.lang.IllegalStateException: bad luck',
  forName: '!yro2',
  getDeclaredField: '!yro3',
  get: '!yro4',
}
const acts = {
  die: () => { console.error('about to die'); process.exit(9) },
  hang: () => new Promise(() => {}),
  garbage: () => 'Exception in thread main',
  throw: () => '!xro9',
  close: (socket) => { socket.destroy() },
}
const server = createServer((socket) => {
  socket.on('error', () => {})
  let rest = ''
  let last = Promise.resolve()
  const played = new Map()
  const answer = async (lines) => {
    const [kind, target, method, argument = ''] = lines
    const action = argument.slice(1)
    if (method === 'load') played.set(target, [])
    if (method === 'step' && action === 'recall') return '!ysYou ' + played.get(target).join(', ')
    if (method === 'step') played.get(target).push(action)
    if (method === 'step' && action.startsWith('sleep')) await new Promise((done) => setTimeout(done, 300))
    if (method === 'step' && acts[action]) return acts[action](socket)
    if (kind === 'i') return '!yro' + (10 + objects++)
    return method === 'step' ? '!ysYou ' + action : (answers[method] ?? '!yv')
  }
  socket.setEncoding('utf8').on('data', (text) => {
    const parts = (rest + text).split(/(?<=\\n)e\\n/)
    rest = parts.pop()
    for (const part of parts) {
      last = last.then(() => answer(part.split('\\n'))).then((line) => line && socket.write(line + '\\n'))
    }
  })
})
server.listen(0, '127.0.0.1', () => console.log('a word before\\n' + server.address().port))
`
