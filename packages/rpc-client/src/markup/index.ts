/**
 * Renders the text of models as HTML for web pages: all text is treated as hostile, and none of it runs or
 * loads anything.
 *
 * @packageDocumentation
 */
import { createMarkdown, escapeText, html, lengthAllowance, renderDiff } from "@tau-agent/markup";

/** Longer texts are not parsed, because nothing in a page can interrupt the Markdown parser. */
const MAX_LENGTH = 20_000;

/** Renders texts as HTML, for `innerHTML`. */
export interface Markup {
  /** Markdown as HTML. HTML inside it is escaped; external images become links. */
  markdown(text: string): string;
  /** A unified diff as lines in `ins` and `del` elements. */
  diff(text: string): string;
  /** Any text, escaped. */
  text(text: string): string;
}

/** Loads the parser. */
export async function createMarkup(): Promise<Markup> {
  const markdown = await createMarkdown((code) => escapeText(code), lengthAllowance(MAX_LENGTH));
  return {
    markdown: (text) => markdown(text).text,
    diff: (text) => renderDiff(text).block.text,
    text: (text) => html`${text}`.text,
  };
}
