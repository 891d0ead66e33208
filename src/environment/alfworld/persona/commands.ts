/** What can be said to the game, and what it does, for the rules that a model is given. `put` is one of the wordings. */
export function commandList(put: string): string {
  const commands = [
    ['look', 'see what is around you'],
    ['inventory', 'see what you carry; you can carry one object'],
    ['go to (receptacle)', 'walk to a receptacle'],
    ['open (receptacle)', 'open it'],
    ['close (receptacle)', 'close it'],
    ['take (object) from (receptacle)', 'pick up an object'],
    [put, 'put down what you carry'],
    ['examine (something)', 'look at a receptacle or an object more closely'],
    ['use (object)', 'switch an object on, such as a lamp'],
    ['heat (object) with (receptacle)', 'make an object hot, in a microwave'],
    ['clean (object) with (receptacle)', 'wash an object, in a sink'],
    ['cool (object) with (receptacle)', 'make an object cold, in a fridge'],
    ['slice (object) with (object)', 'cut an object with a knife'],
  ]
  return commands.map(([command, what]) => `- ${command}: ${what}`).join('\n')
}
