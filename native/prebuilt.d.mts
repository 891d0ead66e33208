export interface Platform {
  readonly os: string
  readonly cpu: string
  readonly libc?: string
}
export const platforms: Readonly<Record<string, Platform>>
export const fallback: string
export function packageName(platform: string): string
export function platformOf(os?: string, cpu?: string, libc?: string): string | undefined
export interface Prebuilt {
  readonly name?: string
  readonly path?: string
  readonly missing?: string
}
export function findPrebuilt(root: string, platform?: string): Prebuilt
