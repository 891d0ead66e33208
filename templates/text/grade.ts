/** 1 for an answer that says what the row says, whatever the case and the spaces, otherwise 0. */
export function grade(answer: string, truth: unknown): number {
  return plain(answer) === plain(String(truth)) ? 1 : 0
}

const plain = (text: string) => text.trim().toLowerCase().replaceAll(/\s+/g, ' ')
