import { codeBlock, escapeText, type Html, html, splitColours, trusted } from "@tau-agent/markup";
import { withoutTrailing } from "@tau-agent/system";
import { countLines, terminalText } from "./facts.ts";

/** Lines of an output that are shown while it is folded. */
const shownLines = 10;
/** Characters that fit on a line of the page; longer lines are wrapped, and count as several. */
const lineLength = 110;

/** Output of a program: its first ten lines, and the rest on demand. */
export function renderOutput(text: string): Html | undefined {
  const cleaned = cleanOutput(text);
  return cleaned === "" ? undefined : renderLines(cleaned);
}

/** Output whose end is most informative, such as that of a failed command: its last ten lines. */
export function renderLastOutput(text: string): Html | undefined {
  const cleaned = cleanOutput(text);
  const lines = cleaned.split("\n");
  if (lines.length <= shownLines) return renderOutput(text);
  const earlier = lines.slice(0, -shownLines);
  const title = `${earlier.length} earlier ${earlier.length === 1 ? "line" : "lines"}`;
  const last = escapeText(lines.slice(-shownLines).join("\n"));
  return html`<details class="rest earlier"><summary>${title}</summary>${codeBlock(escapeText(earlier.join("\n")))}</details>${codeBlock(last)}`;
}

function cleanOutput(text: string): string {
  const cleaned = withoutTrailing(terminalText(text), "\n");
  return cleaned.trim() === "" ? "" : cleaned;
}

/** A block of lines that is folded after the tenth; `coloured` is the same text as HTML. */
export function renderLines(text: string, coloured: Html = escapeText(text)): Html {
  const cut = placeOfCut(text);
  if (cut === undefined) return codeBlock(coloured);
  const [head, rest] = halves(text, coloured, cut);
  const title = moreTitle(text.slice(cut.at));
  return html`${codeBlock(head, "code cut")}<details class="rest"><summary>${title}</summary>${codeBlock(rest)}</details>`;
}

interface Cut {
  readonly at: number;
  /** The number of whole lines before the cut; undefined if it is inside a line. */
  readonly lines: number | undefined;
}

function placeOfCut(text: string): Cut | undefined {
  let start = 0;
  let used = 0;
  for (let lines = 0; start < text.length; lines += 1) {
    const feed = text.indexOf("\n", start);
    const end = feed === -1 ? text.length : feed;
    const height = Math.max(1, Math.ceil((end - start) / lineLength));
    if (used + height > shownLines) {
      return lines > 0 ? { at: start, lines } : { at: shownLines * lineLength, lines: undefined };
    }
    used += height;
    start = end + 1;
  }
  return undefined;
}

function halves(text: string, coloured: Html, { at, lines }: Cut): readonly [Html, Html] {
  const split = lines === undefined ? undefined : splitColours(coloured.text, lines);
  if (split !== undefined) return [trusted(split[0]), trusted(split[1])];
  // The cut may be inside a line, but never inside a character.
  const place = /[\udc00-\udfff]/.test(text.charAt(at)) ? at - 1 : at;
  return [escapeText(text.slice(0, place)), escapeText(text.slice(place))];
}

function moreTitle(rest: string): string {
  const lines = countLines(rest);
  if (lines > 1) return `${lines} more lines`;
  return rest.length > lineLength ? `${rest.length} more characters` : "1 more line";
}
