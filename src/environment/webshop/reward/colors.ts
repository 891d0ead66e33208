/** Words that mean a color, in the order in which they are looked for. */
const COLORS = (
  'alabaster apricot aqua ash asphalt azure banana beige black blue blush bordeaux bronze brown burgundy camel camo ' +
  'caramel champagne charcoal cheetah chestnut chocolate christmas coffee cognac copper coral cranberry cream crystal ' +
  'dark denim eggplant elephant espresso fuchsia gold granite grape graphite grass gray green grey heather indigo ivory ' +
  'ivy khaki lavender lemon leopard light lilac lime magenta maroon mauve merlot midnight mint mocha multicolor mushroom ' +
  'mustard natural navy nude olive orange peach pewter pink plum purple rainbow red rose royal rust sand sapphire ' +
  'seashell silver skull slate steel stone stonewash sunflower tan taupe teal tiger turquoise violet walnut wheat white ' +
  'wine yellow'
).split(' ')

/** The first color that is in a text, or the text: shades of a color count as the color. */
export function normalizeColor(text: string): string {
  return COLORS.find((color) => text.includes(color)) ?? text
}
