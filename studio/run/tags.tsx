import { useSignal } from '@preact/signals'
import type { RunDetail, TagList } from '../../src/studio/api.js'
import { writes } from '../base/live.js'
import { post, runPath } from '../base/server.js'

/** Words that a person has given the run; Enter adds one, × takes it away. */
export function Tags({ run }: { run: RunDetail }) {
  const changed = useSignal<readonly string[] | undefined>(undefined)
  const tags = changed.value ?? run.tags
  const set = async (next: readonly string[]) => {
    changed.value = next
    changed.value = (await post<TagList>(runPath(run.id, 'tags'), { tags: next }).catch(() => ({ tags }))).tags
  }
  return (
    <span class="tag-list">
      {tags.map((tag) => (
        <small class="tag" key={tag}>
          {tag}
          {writes.value && (
            <button
              type="button"
              class="quiet"
              aria-label={`take away ${tag}`}
              onClick={() => set(tags.filter((one) => one !== tag))}
            >
              ×
            </button>
          )}
        </small>
      ))}
      {writes.value && (
        <input
          aria-label="add a tag"
          placeholder="Add a tag"
          maxLength={60}
          onKeyDown={(event) => {
            const word = event.currentTarget.value.trim()
            if (event.key !== 'Enter' || word === '') return
            event.currentTarget.value = ''
            void set([...tags, word])
          }}
        />
      )}
    </span>
  )
}
