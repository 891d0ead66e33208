/** Commands that change how something looks, not what it says. */
export const STYLE_COMMANDS = new Set(
  (
    'left right big Big bigg Bigg bigl bigr Bigl Bigr biggl biggr Biggl Biggr displaystyle textstyle scriptstyle quad qquad ' +
    'mathbf mathit mathsf mathcal boldsymbol bm bf rm it limits nolimits phantom hphantom vphantom enspace thinspace ' +
    'hspace middle'
  ).split(' '),
)

/** Commands whose argument is words. */
export const TEXT_COMMANDS = new Set(
  'text textbf textrm textit textsf mbox hbox mathrm operatorname textnormal'.split(' '),
)

/** Functions of one argument that may be written without brackets. */
export const FUNCTIONS = new Set(
  (
    'sin cos tan cot sec csc arcsin arccos arctan arccot arcsec arccsc sinh cosh tanh coth sech csch ' +
    'arsinh arcosh artanh ln log lg exp'
  ).split(' '),
)

/** Names for the same function. */
export const FUNCTION_NAMES: Record<string, string> = {
  asin: 'arcsin',
  acos: 'arccos',
  atan: 'arctan',
  arcsinh: 'arsinh',
  arccosh: 'arcosh',
  arctanh: 'artanh',
  lg: 'log',
}

/** Tokens that mean the same. */
export const SYNONYMS: Record<string, string> = {
  '**': '^',
  '\\cdot': '*',
  '\\times': '*',
  '\\ast': '*',
  '\\div': '/',
  '\\le': '<=',
  '\\leq': '<=',
  '\\leqslant': '<=',
  '\\ge': '>=',
  '\\geq': '>=',
  '\\geqslant': '>=',
  '\\lt': '<',
  '\\gt': '>',
  '\\ne': '!=',
  '\\neq': '!=',
  '\\approx': '≈',
  '\\simeq': '≈',
  '\\sim': '≈',
  '\\lvert': '|',
  '\\rvert': '|',
  '\\vert': '|',
  '\\mid': '|',
  '\\lbrace': '\\{',
  '\\rbrace': '\\}',
  '\\lbrack': '[',
  '\\rbrack': ']',
  '\\colon': ':',
  '\\langle': '(',
  '\\rangle': ')',
  '\\dfrac': 'frac',
  '\\tfrac': 'frac',
  '\\cfrac': 'frac',
  '\\dbinom': 'binom',
  '\\tbinom': 'binom',
  '\\choose': 'choose',
  '\\varnothing': 'emptyset',
  '\\degree': 'circ',
  '\\cross': '*',
}

export const UNICODE: Record<string, string> = {
  '−': '-',
  '–': '-',
  '×': '*',
  '·': '*',
  '⋅': '*',
  '÷': '/',
  '≤': '<=',
  '≥': '>=',
  '≠': '!=',
  '≈': '\\approx ',
  π: '\\pi ',
  '∞': '\\infty ',
  '√': '\\sqrt ',
  '°': '^\\circ ',
  '±': '\\pm ',
  '∪': '\\cup ',
  '∩': '\\cap ',
  '∈': '\\in ',
  '∅': '\\emptyset ',
  ℝ: '\\mathbb{R}',
  θ: '\\theta ',
  α: '\\alpha ',
  β: '\\beta ',
  '½': '\\frac{1}{2}',
  '¼': '\\frac{1}{4}',
  '¾': '\\frac{3}{4}',
  '⅓': '\\frac{1}{3}',
  '⅔': '\\frac{2}{3}',
  '²': '^2',
  '³': '^3',
  '，': ',',
  '（': '(',
  '）': ')',
  '。': '.',
  '％': '%',
  '\u00a0': ' ',
  '\u2009': ' ',
  '\u202f': ' ',
  '“': '"',
  '”': '"',
  '‘': "'",
  '’': "'",
  '′': "'",
}

const KNOWN = new Set([
  ...FUNCTIONS,
  ...Object.keys(FUNCTION_NAMES),
  ...Object.keys(SYNONYMS).map((key) => key.slice(1)),
  ...(
    'frac sqrt binom pi infty in notin cup cap setminus pm mp alpha beta gamma delta epsilon theta lambda mu nu xi rho sigma tau phi ' +
    'chi psi omega eta zeta kappa iota Gamma Delta Theta Lambda Xi Pi Sigma Phi Psi Omega triangle angle circ prime lfloor ' +
    'rfloor lceil rceil overline bar vec hat widehat mathbb emptyset begin end boxed fbox int sum prod lim max min gcd lcm mod pmod bmod'
  ).split(' '),
])

/** A known command with letters stuck to it, as in `\cotx`, is split; others stay whole. */
export function splitCommand(name: string): [known: string, rest: string] {
  if (KNOWN.has(name)) return [name, '']
  for (let length = name.length - 1; length >= 3; length--) {
    if (KNOWN.has(name.slice(0, length))) return [name.slice(0, length), name.slice(length)]
  }
  return name.startsWith('pi') ? ['pi', name.slice(2)] : [name, '']
}
