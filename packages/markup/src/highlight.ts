import type { Allowance } from "./allowance.ts";
import { shortColours } from "./colours.ts";
import { escapeText, Html } from "./html.ts";

/** Converts code to HTML, coloured if the language is known. */
export type Highlight = (code: string, language: string | undefined) => Html;

/** A block above this size is rarely read line by line. */
const maxBlockLength = 30_000;
/** Colouring is by far the slowest step, so it is limited per page. */
const maxTotalLength = 4_000_000;
/** How many characters colours may add to a page, plus one for each character of code. */
const freeColours = 50_000;
const colourShare = 0.6;

const languageOfSuffix: Readonly<Record<string, string>> = {
  cjs: "javascript",
  mjs: "javascript",
  cts: "typescript",
  mts: "typescript",
  htm: "xml",
  vue: "xml",
  svelte: "xml",
  jsonc: "json",
  jsonl: "json",
  dockerfile: "bash",
  zsh: "bash",
  h: "cpp",
};

/** The language suggested by a file name; the highlighter may not support it. */
export function languageOfPath(path: string): string | undefined {
  const name = path.split(/[\\/]/).at(-1)?.toLowerCase() ?? "";
  const suffix = name.split(".").at(-1);
  if (suffix === undefined || suffix === "") return undefined;
  return Object.hasOwn(languageOfSuffix, suffix) ? languageOfSuffix[suffix] : suffix;
}

/**
 * Loads the highlighter. The returned function colours up to 4 million characters, each text for as long as
 * `allowance` permits. It leaves code uncoloured if the colours would be longer than the text, as for much JSON.
 */
export async function createHighlight(allowance: Allowance): Promise<Highlight> {
  const { default: library } = await import("highlight.js/lib/common");
  let left = maxTotalLength;
  let mayAdd = freeColours;
  return (code, language) => {
    const isKnown =
      language !== undefined && library.getLanguage(language.toLowerCase()) !== undefined;
    const plain = escapeText(code);
    if (!isKnown || code.length > Math.min(maxBlockLength, left)) return plain;
    left -= code.length;
    const cleaned = code.replaceAll("\u0000", "");
    const options = { language: language.toLowerCase(), ignoreIllegals: true };
    const coloured = allowance.run(code.length, () => library.highlight(cleaned, options).value);
    if (coloured === undefined) return plain;
    const shown = shortColours(coloured);
    mayAdd += code.length * colourShare;
    const added = shown.length - plain.text.length;
    if (added > mayAdd) return plain;
    mayAdd -= added;
    return new Html(shown);
  };
}
