// A tokenizer with tokens as long as those of a large one: 16,000 made-up words, some more likely than others by far.
const SPECIAL = ['<|end|>', '<|user|>', '<|assistant|>']
const WORDS = 16_000
const TEMPLATE =
  "{% for m in messages %}{{ '<|' + m['role'] + '|>' + m['content'] + '<|end|>' }}{% endfor %}" +
  "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}"

/** Tokenizer and template of the policy, and the numbers of its word tokens. */
export function makeText({ Tokenizer, ChatTemplate, byteTokenizer }) {
  const json = byteTokenizer(SPECIAL)
  const { vocab } = json.model
  const first = Object.keys(vocab).length
  for (let i = 0; i < WORDS; i++) vocab[`Ġ${word(i)}`] = first + i
  // A word that is in the vocabulary is one token.
  json.model.ignore_merges = true
  json.pre_tokenizer.use_regex = true
  const tokenizer = new Tokenizer({ path: 'words', tokenizer: json, specialTokens: { eos_token: SPECIAL[0] } })
  return { text: { tokenizer, template: new ChatTemplate(TEMPLATE, tokenizer.specialTokens) }, first, count: WORDS }
}

/** Short words come first, as in a language: two letters, then four, then six. */
function word(i) {
  const [consonants, vowels] = ['bdfghjklmnprstvz', 'aeiou']
  const syllables = consonants.length * vowels.length
  let rest = i
  let text = ''
  do {
    const at = rest % syllables
    text += consonants[at % consonants.length] + vowels[Math.floor(at / consonants.length)]
    rest = Math.floor(rest / syllables)
  } while (rest > 0)
  return text
}

/** A question of so many words. */
export function question(seed, words, random) {
  return Array.from({ length: words }, () => ` ${word(rank(random))}`).join('') + `?`.repeat(seed % 2)
}

/** Zipf: word k is drawn about as often as 1 / k. */
export function rank(random) {
  return Math.min(WORDS - 1, Math.floor(WORDS ** random()) - 1)
}
