/** `…<think>…</think> <answer>…</answer>` with nothing after it. One pass, unlike the pattern it stands for. */
export function endsWithThinkAndAnswer(response: string): boolean {
  const text = response.trimEnd()
  if (!text.endsWith('</answer>')) return false
  const think = text.indexOf('<think>')
  if (think < 0) return false
  const joint = /<\/think>\s*<answer>/g
  joint.lastIndex = think + '<think>'.length
  const match = joint.exec(text)
  return match !== null && match.index + match[0].length <= text.length - '</answer>'.length
}

/** Both blocks with their tags on lines of their own, from the first letter to the last. */
export function isThinkAnswerDocument(response: string): boolean {
  const text = response.trimEnd()
  const [head, joint, tail] = ['<think>\n', '\n</think>\n<answer>\n', '\n</answer>']
  if (!text.startsWith(head) || !text.endsWith(tail)) return false
  const at = text.indexOf(joint, head.length)
  return at >= 0 && at + joint.length <= text.length - tail.length
}

/** Exactly one `<think>` and one `</think>`, in this order. */
export function hasOneThinkPair(response: string): boolean {
  const open = response.indexOf('<think>')
  const close = response.indexOf('</think>')
  return (
    open >= 0 && close > open && open === response.lastIndexOf('<think>') && close === response.lastIndexOf('</think>')
  )
}

/** What follows the thinking; the whole text when there is none. */
export function afterThinking(response: string): string {
  const at = response.lastIndexOf('</think>')
  return at < 0 ? response : response.slice(at + '</think>'.length)
}
