import { useSignal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { useEffect } from 'preact/hooks'

/** A page whose code is loaded when somebody goes there. */
export function Later({ load }: { load: () => Promise<ComponentType> }) {
  const page = useSignal<{ View: ComponentType } | undefined>(undefined)
  useEffect(() => {
    void load().then((View) => {
      page.value = { View }
    })
  }, [])
  if (page.value === undefined) return <p class="loading">Loading…</p>
  const { View } = page.value
  return <View />
}
