import { effect, signal } from '@preact/signals'

export type Theme = 'system' | 'light' | 'dark'
const THEMES: readonly Theme[] = ['system', 'light', 'dark']
const KEY = 'trinity-studio-theme'

const stored = (): Theme => THEMES.find((name) => name === localStorage.getItem(KEY)) ?? 'system'

export const theme = signal<Theme>('system')
/** Counts up when colors change: what is drawn on a canvas must be drawn again. */
export const painted = signal(0)

export function followTheme(): void {
  const system = matchMedia('(prefers-color-scheme: dark)')
  const isDark = signal(system.matches)
  system.addEventListener('change', () => {
    isDark.value = system.matches
  })
  theme.value = stored()
  effect(() => {
    const shown = isDark.value ? 'dark' : 'light'
    document.documentElement.dataset.theme = theme.value === 'system' ? shown : theme.value
    localStorage.setItem(KEY, theme.value)
    painted.value = painted.peek() + 1
  })
}

export function nextTheme(): void {
  theme.value = THEMES[(THEMES.indexOf(theme.value) + 1) % THEMES.length]
}

/** The value of a custom property now: `color('--line')`. */
export function color(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim()
}

const SERIES_COLORS = 8
export const seriesColor = (index: number) => color(`--series-${index % SERIES_COLORS}`)
/** Classes of a dot in the color of a series. */
export const seriesDot = (index: number) => `dot series-${index % SERIES_COLORS}`
