import { expect, it } from "vitest";
import { pageColours } from "./page-colours.ts";

type Name = keyof typeof pageColours;

/** Which text colours appear on which backgrounds. */
const uses: readonly (readonly [texts: readonly Name[], backgrounds: readonly Name[]])[] = [
  [
    ["text", "soft", "accent"],
    ["page", "card", "tint"],
  ],
  [
    ["plus", "minus"],
    ["page", "card", "plus-back", "minus-back"],
  ],
  [
    ["key", "string", "number", "name"],
    ["page", "card"],
  ],
  [["page"], ["accent"]],
  [["text"], ["mark", "plus-back", "minus-back"]],
];

const pairs = uses.flatMap(([texts, backgrounds]) =>
  texts.flatMap((text) => backgrounds.map((background) => [text, background] as const)),
);

it.each(pairs)("%s on %s has the contrast of WCAG AA, light and dark", (text, background) => {
  for (const mode of [0, 1] as const) {
    expect(contrast(pageColours[text][mode], pageColours[background][mode])).toBeGreaterThanOrEqual(
      4.5,
    );
  }
});

function contrast(one: string, other: string): number {
  const [light = 0, dark = 0] = [luminance(one), luminance(other)].sort((a, b) => b - a);
  return (light + 0.05) / (dark + 0.05);
}

function luminance(colour: string): number {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5].map((at) => {
    const part = Number.parseInt(colour.slice(at, at + 2), 16) / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
}
