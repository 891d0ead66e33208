import type { Wire } from '../dialect/dialect.js'

/** A model as clients of OpenAI's and of Anthropic's API expect it. */
export function modelWire(id: string): Wire {
  return {
    ...{ id, object: 'model', created: 0, owned_by: 'trinity' },
    ...{ type: 'model', display_name: id, created_at: '1970-01-01T00:00:00Z' },
  }
}

export function modelList(ids: readonly string[]): Wire {
  return {
    ...{ object: 'list', data: ids.map(modelWire) },
    ...{ has_more: false, first_id: ids[0] ?? null, last_id: ids.at(-1) ?? null },
  }
}
