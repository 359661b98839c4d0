/** The colours of the page, each for light and dark. Texts are readable on every background on which they are used. */
export const pageColours = {
  page: ["#fbfaf8", "#16171a"],
  card: ["#ffffff", "#1d1f23"],
  tint: ["#f1efea", "#25282d"],
  line: ["#e2ded6", "#33363d"],
  text: ["#24231f", "#dcdad5"],
  soft: ["#66625a", "#a3a098"],
  accent: ["#1f5f8b", "#7fb4d9"],
  mark: ["#ffe58a", "#6b5a12"],
  "mark-now": ["#ffb454", "#b06f00"],
  plus: ["#1a6537", "#7fcf98"],
  "plus-back": ["#e5f4e9", "#1b2f22"],
  minus: ["#a03030", "#e89a94"],
  "minus-back": ["#fbe9e7", "#3a2020"],
  key: ["#8b3a7a", "#d59bc8"],
  string: ["#3a682c", "#a5c98f"],
  number: ["#8f5310", "#deb071"],
  name: ["#1f5f8b", "#86bbe0"],
} as const satisfies Readonly<Record<string, readonly [light: string, dark: string]>>;

export const colourVariables = Object.entries(pageColours)
  .map(([name, [light, dark]]) => `--${name}: light-dark(${light}, ${dark});`)
  .join("\n  ");
