import { TrinityError } from '../../base/error.js'
import type { Ended } from './command.js'

const AGAIN = 'the same command resumes where it stopped'

/** Why an environment could not be made, from what venv or pip said last. */
export function setupFailure(step: 'venv' | 'pip', { tail }: Ended, dir: string): TrinityError {
  const text = tail.join('\n')
  const cause = tail.length > 0 ? new Error(`the last lines:\n    ${tail.slice(-8).join('\n    ')}`) : undefined
  if (/No space left on device|Disk quota exceeded/i.test(text)) {
    return new TrinityError('setup/disk', 'there is no space left on the device', {
      path: dir,
      hint: `free some, or name another place with --dir (pip caches in ~/.cache/pip); ${AGAIN}`,
      cause,
    })
  }
  if (/Permission denied|Read-only file system/i.test(text)) {
    const hint = 'name a folder of your own with --dir'
    return new TrinityError('setup/permission', 'the environment cannot be written', { path: dir, hint, cause })
  }
  if (step === 'venv') {
    return new TrinityError('setup/venv', 'python3 -m venv failed: its venv module is missing or incomplete', {
      path: dir,
      hint: 'install it (Debian, Ubuntu: apt install python3-venv), or name another Python with --python',
      cause,
    })
  }
  if (NETWORK.test(text)) {
    return new TrinityError('setup/network', 'the package index cannot be reached', {
      path: dir,
      hint: `check the connection and the proxy (HTTPS_PROXY), or name a mirror with --index-url; ${AGAIN}`,
      cause,
    })
  }
  if (/No matching distribution found|Could not find a version/i.test(text)) {
    return new TrinityError('setup/package', 'the package index has no release that fits this Python and machine', {
      path: dir,
      hint: 'try another Python (3.10 to 3.13) with --python, --cpu, or another index with --index-url',
      cause,
    })
  }
  return new TrinityError('setup/pip', 'pip failed', { path: dir, hint: AGAIN, cause })
}

const NETWORK =
  /NameResolutionError|Temporary failure in name resolution|Network is unreachable|Max retries exceeded|Connection ?(?:Error|refused|reset|timed out)|ReadTimeout|ProxyError|SSLError|CERTIFICATE_VERIFY_FAILED/i
