/**
 * Which part a character plays where text is cut into words: the classes of Unicode's Annex 29 as the standard tokenizer
 * of Lucene 9 has them. The table was made by asking that tokenizer about every code point in a few surroundings, so that
 * it does not depend on the version of Unicode that this JavaScript knows.
 */
export const WordClass = {
  other: 0,
  /** Belongs to the character before it: accents, invisible marks. */
  extend: 1,
  /** The same, but makes of a pictograph a text. */
  textStyle: 2,
  /** The same, but makes of a sign a picture. */
  colorStyle: 3,
  /** The same, and glues two pictographs together. */
  joiner: 4,
  letter: 5,
  /** A letter that is a pictograph among pictographs. */
  letterSign: 6,
  hebrew: 7,
  number: 8,
  katakana: 9,
  /** Joins letters and numbers: the underscore. */
  connector: 10,
  /** Inside a word: a colon. */
  midLetter: 11,
  /** Inside a number: a comma. */
  midNumber: 12,
  /** Inside both: a full stop. */
  midBoth: 13,
  singleQuote: 14,
  doubleQuote: 15,
  /** Of a script without blanks between words. */
  unspaced: 16,
  /** The same, and belongs to whatever stands before it. */
  unspacedMark: 17,
  /** A token by itself: Han and Hiragana. */
  single: 18,
  pictograph: 19,
  /** Changes the color of the pictograph before it; alone it is one. */
  modifier: 20,
  /** Half a flag. */
  indicator: 21,
  /** A key of a telephone that is not a number. */
  key: 22,
} as const

/** One letter for each class above, in its order. */
const LETTERS = 'OEWYJLTHNKCFDBQZUVSPMIA'

/** Ranges: how far after the end of the last (base 36), the class, how many more (base 36). All else is `other`. */
const RANGES = `
yZ 1A 4Q 3A 2D 2B 2N9 1F 1D 6Lp 5C 2Lp 1bP 1L 3E 1P 7L 2F 3L 6Lm 2Lu 2Ldb 7L6 8Lj 1E33 1L4 2L1 3L3 1D 1L 7L 1F
1L2 2L 2Lj 2L2a 2L3u 2E6 1L4l 2L11 3L 2L1 2L 2L14 1D 8E18 2E 2E1 2E1 2E 9Hq 5H3 1L 1F cE5 7D1 3Ea 2E 4L16 1Ek
1N9 2N 1D 2L1 1E 1L2q 2L 1E7 2E5 1L1 1E1 2E3 1L1 1N9 1L2 3L gE 1L 1E 1Lt 1Eq 3L2g 1Ea 1L fN9 1Lw 1E8 1L1 3D 2L
3E 3Ll 1E3 1L 1E8 1L 1E2 1L 1E4 jLo 1E2 5La 1iLk 2L7 mE1c 1L1h 1E2 1L 1Eh 1L 1E6 1L9 1E1 3N9 2Lf 1E2 2L7 3L1 3Ll
2L6 2L 4L3 3E 1L 1E6 3E1 3E2 1L 9E 5L1 2L2 1E1 3N9 1L1 bL 2E 3E2 2L5 5L1 3Ll 2L6 2L1 2L1 2L1 3E 2E4 5E1 3E2 4E
8L3 2L 8N9 1E1 1L2 1E cE2 2L8 2L2 2Ll 2L6 2L1 2L4 3E 1L 1E7 2E2 2E2 3L gL1 1E1 3N9 aL 1E5 2E2 2L7 3L1 3Ll 2L6
2L1 2L4 3E 1L 1E6 3E1 3E2 9E1 5L1 2L2 1E1 3N9 2L hE 1L 2L5 4L2 2L3 4L1 2L 2L1 4L1 4L2 4Lb 5E4 4E2 2E3 3L 7E fN9
hE4 1L7 2L2 2Lm 2Lf 4L 1E6 2E2 2E3 8E1 2L2 6L1 1E1 3N9 hL 1E2 2L7 2L2 2Lm 2L9 2L4 3E 1L 1E6 2E2 2E3 8E1 8L 2L1
1E1 3N9 2L1 eE3 2L7 2L2 2L14 1E1 1L 1E6 2E2 2E3 1L 6L2 1E 8L2 1E1 3N9 bL5 3E1 2Lh 4Ln 2L8 2L 3L6 4E 5E5 2E 2E7
7N9 3E1 eU1b 1V 1U1 1V6 6U6 1V7 2N9 14U1 2U 2U4 2Un 2U 2U9 1V 1U1 1V8 1U 3U4 2U 2V5 3N9 3U3 xL oE1 7N9 cE 2E 2E
5E1 1L7 2Lz 5Ej 2E1 1L4 1Ea 2Ez aE 1mU16 1Vj 1U 1N9 7U5 1V3 1U3 1V2 1U 1V2 1U1 1V6 1U2 1V3 1Uc 1Vb 1U 1V 1N9 1V3
1U1 1L11 2L 6L 3L16 2L98 2L3 3L6 2L 2L3 3L14 2L3 3Lw 2L3 3L6 2L 2L3 3Le 2L1k 2L3 3L1u 3E2 xLf hL2d 3L5 4Lh7 3Lg
2Lp 6L22 4La 8Lc 2L3 1E2 cLh 1E2 cLh 1E1 dLc 2L2 2E1 dU1f 1Vv 4U 5U 1V 3N9 yE3 2N9 7L2g 8L4 1E1 1Lx 1E 1L 6L1x
bLu 2Eb 5Eb bN9 1Ut 3U4 cU17 5Up 7N9 1U 4U1 xLm 1E4 5U1g 1V9 2Vs 3E 1N9 7N9 7Ud 3Ee 1uE4 1L1a 1Eg 1L6 5N9 iE8
dE2 1Lt 1Ec 1L1 1N9 1L17 1Ed dLz 1Ej 9N9 4L2 1N9 1Lz 3L8 8L16 3L2 hE2 2Ek 1L3 1E 1L5 1E 1L1 1E2 1L 6L5b 1E1l 2E4
1L7p 3L5 3L11 3L5 3L7 2L 2L 2L 2Lu 3L1g 2L6 2L 4L2 2L6 4L3 3L5 5Lc 6L2 2L6 gE 1J 1E1 9B1 bB 3F 3E4 1C dP 3C1 4D
5P bC cE4 2E9 2L eL hLc 1gEw iL 5L 3L9 2L 4L4 5P 2L 2L 2L 2L3 2L9 1T 3L3 6L4 5L iL14 cP5 gP1 a8P1 dP 2oP 1zP qPa
5P2 58Lb 1T 1L12 5dP1 bP aP 1nP3 2P5 2Pb 2P35 bP39 3Pa 2P 2P 7P 4P 7P bP1 gP 3P 5P 2P 5P2 2P cP4 1aP2 aP fP fP
adP1 cwP2 kP1 1gP 5P 4rL1a 2L1a 2L3o 7L3 1E2 1L1 dL11 2L 6L 3L1j 8L gE 1Lm aL6 2L6 2L6 2L6 2L6 2L6 2L6 2L6 2Ev
1cL 29Sp 2S2g dS5x 1cL 2S qS8 1E5 1P 1K4 3S2 1L1 1P 4S2d 3E1 1K1 1S2 1K2i 2K3 6L16 2L2l iLq 1iKf 48P 2P 1jK1a
2K2f 4pS52t 23Sg6n hLwc 1wL19 3L7g 4Lf 1N9 1L1 lL1a 1E3 2E9 2Lu 1E1 1L27 1E1 12L4o 3L4 1dLa 1E 1L2 1E 1L3 1E 1Lm
1E4 pL1f dE1 1L1d 1Eh bN9 7Eh 1L5 4L 2L1 1E 1N9 1Lr 1E7 3Lm 1Ec dLs 4E3 1L1a 1Ed fL 1N9 7U4 1V 1U9 1N9 1U4 2L14
1Ed aL2 1E 1L7 1E1 3N9 7Uq 1V2 1U1d 1V 1U 1V2 1U1 1V1 1U4 1V1 1U 1V 1U pU4 1La 1E4 3L2 1E1 bL5 3L5 3L5 aL6 2L6
2L1j 9L36 1E7 2E1 3N9 7L8mb dLm 5L1c 6itSa5 3S2x 13L6 dL4 6H 1E 1H9 2Hc 2H4 2H 2H1 2H1 2H9 1L2p yLa2 jL1r 3L1h
15Lb 5Ed 1W 1Y 1D 3F 1D cEf 4C1 pC2 1D 2B 2D 1F rL4 2L3q 3E 8B 5D 2B 2N9 1F 1D 6Lp 5C 2Lp cK1j 1E1 1Lu 4L5 3L5
3L5 3L2 tE2 5Lb 2Lp 2Li 2L1 2Le 3Ld zL3e 1yL1g 3tE 3nLs 4L1c gE wLv eLt 6L11 1E4 6Lt 3Lz 5L7 2L4 17L4d 3N9 7Lz
5Lz 5L13 9L1f 4dL8m aLl bL7 49L5 3L 2L17 2L1 4L 3Lm bLm aLu 1uLi 2L1 bLl bLp 1zL1j 7L1 1tL 1E2 2E1 6E3 1L3 2L2
2Ls 3E2 5E xLs 4Ls 10L7 2Lr 1E1 qL1h bLl bLi eLh 33L20 1kL1e eL1e eLz 1E3 9N9 cnLs bL 9Ll 1Ea 40Lm aE2 1L1g 1Ee
wN9 gE3 1L18 1Ea 3E gE 3Lo 8N9 7E2 1Lz 1Ed 2N9 5L 1E1 aLy 1E 3L aE2 1L1b 1Ed 1L3 5E3 4N9 1L 2L 10Lh 2Lo 1Eb 7E
1uL6 2L 2L3 2Le 2L9 8L1a 1Eb 6N9 7E3 2L7 3L1 3Ll 2L6 2L1 2L4 2E1 1L 1E6 3E1 3E2 3L 7E 6L4 1E1 3E6 4E4 3wL1g 1Eh
1L3 6N9 5E 1L xL1b 1Ej 1L1 2L 9N9 4nL1a 1E6 3E8 oL3 1E1 zL1b 1Eg 4L cN9 13L16 1Ec 1L 8N9 1jUq 3Ve 5N9 1U1 4U
5dL17 1Ee 2uL1r 1N9 mL 4hL7 3L12 1E6 3E6 1L 2L 1E sL 1E9 1L13 1E6 1L 1E3 9E 9L 1Ea 1L19 1Ef 4L zL1k 7cL8 2L10
1E7 2E7 1L gN9 pLt 3El 2Ed 22L6 2L1 2L11 1E5 4E 2E1 2E6 1L 1E 9N9 7L5 2L1 2Lv 1E4 2E1 2E4 1L 8N9 8nLi 1E3 7eLpl
2vL32 iL5f 24dLtq 2E8 348Lg6 6nuLfs 8Lu 2N9 2vLt 3E4 cL1b 1E6 aL3 dN9 aLk 6Li j5L1r 3lL22 5E 1L 1E1i 8E3 1Lc
1tL1 2L cnxK 1S7x 1eS2 iK3 23dL2y 6Lc 4L8 8L9 4E1 2E3 43mE4 4El 3E6 vE3 45E2 ccL2c 2L1y 2L1 3L 3L1 3L3 2Lb 2L
2L6 2L1s 2L3 3L7 2L6 2Lr 2L3 2L4 2L 4L6 2L9f 3Lo 2Lo 2Lu 2Lo 2Lu 2Lo 2Lu 2Lo 2Lu 2Lo 2L7 3N1d e9E1i 5E1d 9E fE
nE4 2Ee 11tE6 2Eg 3E6 2E1 2E4 5yL18 4E6 1L6 3N9 5L aaL17 1E3 1N9 zrL5g cE6 16L1v 1E6 1L 5N9 x3L3 2Lq 2L1 2L 3L
2L9 2L3 2L 2L 7L 5L 2L 2L 2L2 2L1 2L 3L 2L 2L 2L 2L 2L1 2L 3L3 2L6 2L3 2L3 2L 2L9 2Lg 6L2 2L4 2Lg 91P73 eP2 wP
1Lp 7Lp 3P3 1T1 1Lb 1T1 1L9 5P 3P9 jP1k 1Ip 1S 1Pe bP lP 3P8 2P3 aPc1 1M4 1P8t 9P7d 1dP3j 39Pb 2eP16 dP3 1lP7
bP5 15P7 vP29 dP1a 2P9 2P1bq 3Swye 16S378 cS65 3S4g1 fS5rk 2e8Sf1 fhesE vE2n 3lE6n`

/** First code points and last ones, in order. */
const starts: number[] = []
const ends: number[] = []
const classes: number[] = []
for (const range of RANGES.trim().split(/\s/)) {
  const at = range.search(/[A-Z]/)
  const start = (ends.at(-1) ?? 0) + Number.parseInt(range.slice(0, at), 36)
  starts.push(start)
  ends.push(start + Number.parseInt(range.slice(at + 1) || '0', 36))
  classes.push(LETTERS.indexOf(range[at]))
}

/** Nearly all of any text lies below. */
const COMMON = 0x3000
const common = new Uint8Array(COMMON)
for (const [i, start] of starts.entries()) common.fill(classes[i], start, ends[i] + 1)

export function wordClass(codePoint: number): number {
  if (codePoint < COMMON) return common[codePoint]
  let low = 0
  let high = starts.length - 1
  while (low < high) {
    const middle = (low + high + 1) >> 1
    if (starts[middle] <= codePoint) low = middle
    else high = middle - 1
  }
  return codePoint <= ends[low] ? classes[low] : WordClass.other
}
