#!/usr/bin/env node
// `npm create trinity my-project -- --have agent` is `trinity init my-project --have agent`
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import { dirname, join } from 'node:path'
import { pathToFileURL } from 'node:url'

const manifest = createRequire(import.meta.url).resolve('trinity-rft/package.json')
const main = join(dirname(manifest), JSON.parse(readFileSync(manifest, 'utf8')).bin.trinity)

process.argv.splice(1, 1, main, 'init')
await import(pathToFileURL(main).href)
