import type { RendererObject, Tokens } from "marked";
import type { Allowance } from "./allowance.ts";
import type { Highlight } from "./highlight.ts";
import { type Html, html, trusted } from "./html.ts";
import { imageUrl, parseDataUrl, safeUrl } from "./safe-url.ts";

export type RenderMarkdown = (text: string) => Html;

/** Longer texts are shown unparsed, because the parser is slow on some of them. */
const maxMarkdownLength = 100_000;
/** The parser recurses for every level and copies the rest each time. */
const maxQuoteDepth = 30;

const tagNames =
  "a|blockquote|br|code|del|div|em|h[1-6]|hr|i|img|li|ol|p|pre|span|strong|table|tbody|td|th|thead|tr|ul";
// The tags that our renderer writes. Any other tag in its output would be text that slipped through.
const writtenTag = new RegExp(
  `^</?(?:${tagNames})(?: (?:class|href|title|alt|src|rel|target|align|start|loading)="[^"<>]*")*>`,
);

// Hebrew, Arabic, and the other right-to-left scripts in their ranges.
const rightToLeft = /[\u0590-\u08ff\ufb1d-\ufdff\ufe70-\ufefc]/;

/** Whether every `<` in `markup` begins a tag that the renderer writes. */
export function isOurMarkup(markup: string): boolean {
  for (let at = markup.indexOf("<"); at !== -1; at = markup.indexOf("<", at + 1)) {
    const end = markup.indexOf(">", at);
    if (end === -1 || !writtenTag.test(markup.slice(at, end + 1))) return false;
  }
  return true;
}

/** Unformatted text, with its line breaks. */
export function plainBlock(text: string): Html {
  return html`<div class="plain" dir="auto">${text}</div>`;
}

export function codeBlock(code: Html, kind = "code"): Html {
  return html`<pre class="${kind}"><code>${code}</code></pre>`;
}

/**
 * Loads the Markdown parser. HTML in a text always stays text. Emphasis that keeps being opened can keep the
 * parser busy for minutes; `allowance` limits that.
 */
export async function createMarkdown(
  highlight: Highlight,
  allowance: Allowance,
): Promise<RenderMarkdown> {
  const { Marked } = await import("marked");
  const blocks: CodeToken[] = [];
  const marked = new Marked({ gfm: true, breaks: true, renderer: createRenderer(blocks) });
  return (text) => {
    if (text.length > maxMarkdownLength || isTrap(text)) return plainBlock(text);
    try {
      const parsed = allowance.run(text.length, () => {
        blocks.length = 0;
        return marked.parse(text, { async: false });
      });
      // Colours have a separate time limit, so that a slow code block does not cost the text its markup.
      const markup = parsed?.replace(codePlace, (_, index) =>
        coloured(blocks[Number(index)], highlight),
      );
      if (markup !== undefined && isOurMarkup(markup)) {
        const shown = rightToLeft.test(text) ? withDirections(markup) : markup;
        return html`<div class="prose" dir="auto">${trusted(shown)}</div>`;
      }
    } catch {
      // A text that the parser cannot handle is shown unformatted.
    }
    return plainBlock(text);
  };
}

/** Puts the marks of quotations, lists and tables on the side where their own text begins. */
function withDirections(markup: string): string {
  return markup.replace(/<(blockquote|ul|ol|table)(?=[ >])/g, '<$1 dir="auto"');
}

/** Whether a text would stall the parser, intentionally or not: deep nesting, endless runs. */
function isTrap(text: string): boolean {
  const marks = new RegExp(`^[\\t ]*(?:(?:>|[-*+]|\\d{1,9}[.)])[\\t ]*){${maxQuoteDepth}}`, "m");
  return marks.test(text) || /[[(*_~`]{200}|\s{500}/.test(text);
}

type CodeToken = Pick<Tokens.Code, "text" | "lang">;

/** The placeholder for a block of code. Escaped text contains no such characters. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: no text can contain it
const codePlace = /\u0001(\d+)\u0001/g;

function coloured(block: CodeToken | undefined, highlight: Highlight): string {
  const language = /^[\w+#.-]+/.exec(block?.lang ?? "")?.[0];
  return highlight(block?.text ?? "", language).text;
}

function createRenderer(blocks: CodeToken[]): RendererObject {
  return {
    html: ({ text }) => html`${text}`.text,
    text(token) {
      return "tokens" in token && token.tokens
        ? this.parser.parseInline(token.tokens)
        : keepEntities(token.text);
    },
    code: (token) => codeBlock(trusted(`\u0001${blocks.push(token) - 1}\u0001`)).text,
    codespan: ({ text }) => html`<code>${text}</code>`.text,
    checkbox: ({ checked }) => (checked ? "☑ " : "☐ "),
    listitem({ task, tokens }) {
      const content = this.parser.parse(tokens);
      return task ? `<li class="choice">${content}</li>\n` : `<li>${content}</li>\n`;
    },
    link(token) {
      const content = trusted(this.parser.parseInline(token.tokens));
      const address = safeUrl(token.href);
      if (address === undefined) return html`${content}${unlinked(token)}`.text;
      return html`<a href="${address}" rel="noopener noreferrer nofollow" target="_blank">${content}</a>`
        .text;
    },
    image: ({ href, text }) => imageOf(href, text).text,
    table(token) {
      const header = token.header.map((cell) => this.tablecell(cell)).join("");
      const rows = token.rows.map(
        (row) => `<tr>${row.map((cell) => this.tablecell(cell)).join("")}</tr>`,
      );
      return `<div class="table"><table><thead><tr>${header}</tr></thead><tbody>${rows.join("")}</tbody></table></div>`;
    },
  };
}

function unlinked({ href, text }: Tokens.Link): Html | undefined {
  return href === text || href === "" ? undefined : html` <span class="address">(${href})</span>`;
}

/** Embedded images are shown; others become links, because the page loads nothing. */
function imageOf(address: string, text: string): Html {
  const data = parseDataUrl(address);
  const source = data && imageUrl(data.mimeType, data.data);
  if (source !== undefined) return html`<img src="${source}" alt="${text}" loading="lazy">`;
  const name = text === "" ? "image" : text;
  const link = safeUrl(address);
  return link === undefined
    ? html`<span class="address">[${name}]</span>`
    : html`<a href="${link}" rel="noopener noreferrer nofollow" target="_blank">[${name}]</a>`;
}

/** Escapes text in which entities represent characters, as in Markdown. */
function keepEntities(text: string): string {
  return html`${text}`.text.replace(
    /&amp;(#\d{1,7}|#[xX][\da-fA-F]{1,6}|[a-zA-Z]\w{1,30});/g,
    "&$1;",
  );
}
