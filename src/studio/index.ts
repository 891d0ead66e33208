/**
 * Studio: a local server that shows what run folders hold (runs, numbers, logs, rollouts) to one person in a browser, and lets
 * them write and start runs, which are processes of their own: closing it stops nothing. Its page is in `/studio`, and knows nothing of this folder but `api.ts`.
 */

export { hasPage } from './page.js'
export type { ViewOptions } from './rollout/view.js'
export { Studio, type StudioOptions } from './studio.js'
