import { expect, it } from 'vitest'
import { createProgram } from './program.js'
import { optionsOf, rememberFlags, typed, withSetting } from './suggestion.js'

const LOCAL = '/project/node_modules/.bin/trinity'

it('commands can be typed where the program was started', () => {
  expect(typed('run: trinity setup torch (or not)', LOCAL)).toBe('run: npx trinity setup torch (or not)')
  expect(typed('run: trinity setup torch', '/checkout/dist/cli/main.js')).toBe('run: npx trinity setup torch')
  expect(typed('run: trinity setup torch', '/usr/local/bin/trinity')).toBe('run: trinity setup torch')
  expect(typed('run: npx trinity doctor', LOCAL)).toBe('run: npx trinity doctor')
})

it('what is not a command stays', () => {
  for (const text of ['trinity 0.1.0', 'a trinity of things', 'src/trinity run', 'x-trinity log'])
    expect(typed(text, LOCAL)).toBe(text)
})

it('commands about a run get its file, plugins and overrides, unless they name one', () => {
  rememberFlags({
    config: 'a b.yaml',
    pluginDir: ['plugins'],
    set: ['name=x', 'monitor.monitor_args.api_key=hush-hush'],
  })
  const options = "-c 'a b.yaml' --plugin-dir plugins --set name=x --set 'monitor.monitor_args.api_key=***'"
  expect(typed('`trinity log -k runner` shows why', LOCAL)).toBe(`\`npx trinity log ${options} -k runner\` shows why`)
  expect(typed('trinity debug --module workflow', LOCAL)).toBe(`npx trinity debug ${options} --module workflow`)
  expect(typed('trinity log -d x/log', LOCAL)).toBe('npx trinity log -d x/log')
  expect(typed(`trinity run ${options}`, LOCAL)).toBe(`npx trinity run ${options}`)
  expect(optionsOf({ config: 'f.yaml' })).toBe('-c f.yaml')
})

it('a run that has no file gets one where a command needs it', () => {
  const command = 'trinity train agent.ts --data d.jsonl --model m'
  rememberFlags({ config: 'train agent.ts', logDir: 'x/log', command, pluginDir: ['agent.ts'], set: ['name=x'] })
  expect(typed('`trinity debug --module workflow` runs one', LOCAL)).toBe(
    `\`npx ${command} --print > run.yaml && npx trinity debug -c run.yaml --plugin-dir agent.ts --set name=x --module workflow\` runs one`,
  )
  expect(typed('trinity log', LOCAL)).toBe('npx trinity log -d x/log')
})

it('knows every command', () => {
  for (const name of createProgram(() => {}).commands.map((command) => command.name())) {
    expect(typed(`trinity ${name} x`, LOCAL)).toMatch(`npx trinity ${name}`)
  }
})

it('an override replaces an earlier one of the same key', () => {
  expect(withSetting(['a.b=1', 'a.bc=2'], 'a.b', 3)).toEqual(['a.bc=2', 'a.b=3'])
  expect(withSetting(undefined, 'a.b', 3)).toEqual(['a.b=3'])
})
