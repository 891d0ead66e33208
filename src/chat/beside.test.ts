import { expect, it } from 'vitest'
import { Screen } from '../monitor/terminal/screen.fixture.js'
import { Beside } from './beside.js'

it('shows replies side by side as they come, harmlessly, and the end of long ones', () => {
  const screen = new Screen(41, 8)
  const beside = new Beside([{ name: 'one' }, { name: 'two' }], { screen, width: 41 })
  beside.add(0, 'hello \x1b[2J')
  beside.add(1, '日本')
  const line = '─'.repeat(18)
  expect(screen.lines()).toEqual(['one                  two', `${line}   ${line}`, 'hello ␛[2J           日本'])
  beside.add(0, '\nb\nc\nd\ne\nf')
  expect(screen.lines()).toEqual(['one                  two', `${line}   ${line}`, 'c', 'd', 'e', 'f'])
  beside.clear()
  expect(screen.lines()).toEqual([])
  const nowhere = new Beside([{ name: 'one' }], { width: 41 })
  nowhere.add(0, 'x')
  nowhere.clear()
})
