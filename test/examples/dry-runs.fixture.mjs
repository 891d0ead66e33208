// Dry runs one after the other in one process, which takes a second to start: for each list of arguments a line of JSON.
import { readFileSync } from 'node:fs'

const { createProgram } = await import(process.argv[2])
const print = process.stdout.write.bind(process.stdout)
for (const args of JSON.parse(readFileSync(0, 'utf8'))) {
  let text = ''
  let code = -1
  const keep = (part) => {
    text += part
    return true
  }
  process.stdout.write = keep
  process.stderr.write = keep
  try {
    await createProgram((done) => {
      code = done
    }).parseAsync(['node', 'trinity', ...args])
  } catch (error) {
    text += error.message
  }
  print(`${JSON.stringify({ code, text })}\n`)
}
