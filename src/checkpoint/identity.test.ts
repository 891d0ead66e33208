import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { claim } from './identity.js'
import { JOB } from './layout.js'

let dir: string
beforeEach(() => {
  dir = mkdtempSync(join(tmpdir(), 'trinity-identity-'))
  mkdirSync(join(dir, 'global_step_1'))
})
afterEach(() => rmSync(dir, { recursive: true, force: true }))

const url = (password: string, host = 'host') => ({ 'model.model_path': `https://me:${password}@${host}/model` })
const stored = () => readFileSync(join(dir, JOB), 'utf8')

it('stores no secret, and a changed password is still the same job', async () => {
  rmSync(join(dir, 'global_step_1'), { recursive: true })
  await claim(dir, url('first@pass'))
  expect(stored()).not.toContain('pass')
  mkdirSync(join(dir, 'global_step_1'))
  await claim(dir, url('second/pass'))
  await expect(claim(dir, url('second', 'elsewhere'))).rejects.toThrow(
    /made with model.model_path: https:\/\/me:\*\*\*@host/,
  )
})

it('cleans a file of an older version', async () => {
  writeFileSync(join(dir, JOB), JSON.stringify(url('old-password')))
  await claim(dir, url('new-password'))
  expect(JSON.parse(stored())).toEqual({ 'model.model_path': 'https://me:***@host/model' })
})

it('takes a folder with and without ./ for the same', async () => {
  writeFileSync(join(dir, JOB), JSON.stringify({ 'model.model_path': 'model' }))
  await claim(dir, { 'model.model_path': './model' })
  writeFileSync(join(dir, JOB), JSON.stringify({ 'model.model_path': './model' }))
  await claim(dir, { 'model.model_path': 'model' })
})

it('still refuses another model', async () => {
  writeFileSync(join(dir, JOB), JSON.stringify({ 'model.model_path': 'a' }))
  await expect(claim(dir, { 'model.model_path': 'b' })).rejects.toThrow('made with model.model_path: a')
})
