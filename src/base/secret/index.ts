export {
  redact,
  redactAll,
  redactValue,
  rememberAssignment,
  rememberEnvironment,
  rememberSecret,
  rememberUrl,
} from './known.js'
export { isSecretEntry, isSecretName, isSecretVariable } from './name.js'
export { HIDDEN, isHarmless, looksLikeUrl, withoutPassword } from './url.js'
