import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Command } from 'commander'
import { describe, expect, it } from 'vitest'
import { createProgram } from '../src/cli/program.js'
import { projectFiles } from '../src/init/project.js'
import { blocksOf, pages, root } from './support/doc-blocks.js'

/** The commands that the pages show are understood; nothing of them is run here. */

const COMMAND = /^(?:npx )?trinity (.+)$/

/** Words of a line of shell: quotes hold together, a comment and what follows `&`, `|` or `>` are left out. */
function wordsOf(line: string): string[] {
  const words = [...line.matchAll(/'([^']*)'|"([^"]*)"|(#.*|[&|>].*)|([^\s'"]+)/g)]
  const end = words.findIndex((match) => match[3] !== undefined)
  return (end < 0 ? words : words.slice(0, end)).map((match) => match[1] ?? match[2] ?? match[4])
}

/** Parses and does nothing else. */
function tame(command: Command, inText: boolean): void {
  command.configureOutput({ writeErr: () => {}, writeOut: () => {} })
  if (command.commands.length === 0) command.action(() => {})
  if (inText) for (const option of command.options) option.mandatory = false
  for (const one of command.commands) tame(one, inText)
}

/** What is wrong with a command; undefined: nothing. In a sentence it may leave out what it needs. */
async function wrong(words: readonly string[], inText: boolean): Promise<string | undefined> {
  const program = createProgram(() => {})
  tame(program, inText)
  return program.parseAsync(words, { from: 'user' }).then(
    () => undefined,
    ({ code, message }: { code: string; message: string }) => {
      const incomplete = inText && /missingArgument|commander\.help$/.test(code)
      return incomplete || /helpDisplayed|version/.test(code) ? undefined : message
    },
  )
}

describe('the commands of the pages', () => {
  it('in blocks are complete', async () => {
    const lines = pages.flatMap((page) =>
      blocksOf(page)
        .filter(({ language }) => language === 'sh')
        .flatMap(({ code, line }) => code.split('\n').map((text, i) => ({ at: `${page}:${line + i}`, text }))),
    )
    const found = lines.flatMap(({ at, text }) => {
      const command = COMMAND.exec(text)?.[1]
      return command ? [{ at, words: wordsOf(command) }] : []
    })
    expect(found.length).toBeGreaterThan(20)
    const problems = []
    for (const { at, words } of found) problems.push([at, words.join(' '), await wrong(words, false)])
    expect(problems.filter(([, , problem]) => problem !== undefined)).toEqual([])
  })

  it('in sentences exist', async () => {
    const problems = []
    for (const page of pages) {
      const text = readFileSync(join(root, page), 'utf8').replace(/^```[\s\S]*?^```$/gm, '')
      for (const [, span] of text.matchAll(/`([^`\n]+)`/g)) {
        const command = COMMAND.exec(span)?.[1]
        if (command && !/[…<]/.test(command)) problems.push([page, span, await wrong(wordsOf(command), true)])
      }
    }
    expect(problems.length).toBeGreaterThan(10)
    expect(problems.filter(([, , problem]) => problem !== undefined)).toEqual([])
  })

  it('of npm are scripts of the package, or of a new project', async () => {
    const [manifest] = await projectFiles({ have: 'nothing', sdk: 'none', where: 'cpu' }, { dir: 'a', dependency: '1' })
    const manifests = [readFileSync(join(root, 'package.json'), 'utf8'), 'text' in manifest ? manifest.text : '']
    const scripts = manifests.flatMap((text) => Object.keys(JSON.parse(text).scripts))
    const named = pages.flatMap((page) =>
      [...readFileSync(join(root, page), 'utf8').matchAll(/\bnpm run ([\w:]+)/g)].map(([, name]) => name),
    )
    expect(named.length).toBeGreaterThan(3)
    expect(named.filter((name) => !scripts.includes(name))).toEqual([])
  })

  it('a wrong one is found', async () => {
    expect(await wrong(['run', '--confg', 'a.yaml'], true)).toContain("unknown option '--confg'")
    expect(await wrong(['runn'], true)).toContain("unknown command 'runn'")
    expect(await wrong(['run'], false)).toContain('--config')
    expect(wordsOf(`run -c a.yaml --set 'a={b: c}' & # later`)).toEqual(['run', '-c', 'a.yaml', '--set', 'a={b: c}'])
  })
})
