import { Document, isScalar, type Scalar, visit } from 'yaml'
import { plainScalar } from './scalar.js'
import { escapeTemplate } from './template.js'

/** Writes a configuration as YAML that reads back as the same configuration. */
export function printConfig(value: unknown): string {
  const document = new Document(clean(value), { version: '1.2', aliasDuplicateObjects: false })
  visit(document, { Scalar: (_, node) => quoteIfNeeded(node) })
  return document.toString({ lineWidth: 0, nullStr: 'null' })
}

/** Leaves out what YAML cannot hold and protects texts that look like references. */
function clean(value: unknown): unknown {
  if (typeof value === 'string') return escapeTemplate(value)
  if (Array.isArray(value)) return value.map(clean)
  if (value !== null && typeof value === 'object') {
    return Object.fromEntries(
      Object.entries(value)
        .filter(([, item]) => item !== undefined)
        .map(([key, item]) => [key, clean(item)]),
    )
  }
  return value
}

/** Our reader knows more plain words than YAML 1.2: `yes`, `017`, `12:30` are texts only in quotes. */
function quoteIfNeeded(node: Scalar): void {
  if (!isScalar(node) || typeof node.value !== 'string') return
  if (plainScalar(node.value).type !== 'str' || node.value === '<<') node.type = 'QUOTE_DOUBLE'
}
