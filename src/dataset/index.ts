/** Task sets that `trinity data` makes: generated, taken from files the user has, or fetched from a hub. */

export { type DatasetEntry, dataset } from './dataset.js'
export { type Making, Place, type PlaceContext, type PlacedFile } from './place.js'
export { type FileRecord, type FileState, readRecord, stateOf } from './record.js'
export { datasets } from './registry.js'
