import { expect, it } from 'vitest'
import { commandHelp, commandOf, unknownCommand } from './colon-command.js'

const COMMANDS = { reset: 'begin again', rest: 'wait', undo: 'take it back' }

it('the beginning of a name is enough where no other has it', () => {
  expect(commandOf('u', COMMANDS)).toBe('undo')
  expect(commandOf('re', COMMANDS)).toBeUndefined()
  expect(commandOf('rest', { ...COMMANDS, restart: '' })).toBe('rest')
  expect(commandOf('toString', COMMANDS)).toBeUndefined()
})

it('an unknown one is told with what is near', () => {
  expect(unknownCommand('rset', COMMANDS)).toBe('there is no command :rset; did you mean :reset? (:help lists them)')
  expect(commandHelp(COMMANDS).split('\n')).toHaveLength(3)
})
