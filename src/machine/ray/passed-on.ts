import { isSecretVariable } from '../../base/secret/name.js'

const OURS = /^(TRINITY_|HF_HOME$|HF_ENDPOINT$|HF_HUB_OFFLINE$|TINKER_BASE_URL$)/

/** Variables of this process that its work elsewhere has too. Others see them there: secrets stay here. */
export function passedOn(env: Readonly<Record<string, string | undefined>>): Record<string, string> {
  const found = Object.entries(env).filter(([name]) => OURS.test(name) && !isSecretVariable(name))
  return Object.fromEntries(found.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])))
}
