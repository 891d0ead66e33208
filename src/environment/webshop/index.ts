/** WebShop: a catalogue, goals, pages and rewards. */

export { buildCatalogue } from './catalogue/build.js'
export { CATALOGUE, type CatalogueFiles, DOWNLOADS, findFiles } from './catalogue/files.js'
export type { Goal, GoalKind, Goals } from './goals.js'
export { openShop, type Shop, type ShopArgs } from './shop.js'
export { webshop } from './webshop.js'
