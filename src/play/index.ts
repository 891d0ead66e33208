/** `trinity play`: a world in the terminal, for a person at the keyboard or for somebody who watches a model. */

export { type Game, type GameOptions, openGame, type Play } from './game.js'
export { playYourself, type Table } from './person.js'
export { type Player, summary, type Watched, watch } from './watch.js'
