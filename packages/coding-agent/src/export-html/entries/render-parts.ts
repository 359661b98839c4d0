import { isJsonObject } from "../../base/files/read-json.ts";
import { withoutTrailing } from "../../base/without-trailing.ts";
import type { Highlight } from "../text/highlight.ts";
import { type Html, html } from "../text/html.ts";
import { codeBlock, type RenderMarkdown } from "../text/markdown.ts";
import { imageUrl } from "../text/safe-url.ts";
import { countLines, jsonText, terminalText } from "./facts.ts";
import type { SessionOutline } from "./session-outline.ts";

/** What rendering an entry needs. */
export interface Renderer {
  readonly outline: SessionOutline;
  readonly onPath: ReadonlySet<number>;
  readonly markdown: RenderMarkdown;
  readonly highlight: Highlight;
}

/** Output with more lines than this starts folded. */
const foldedLines = 14;

/** The blocks of a message's content; a string is one text block, anything else none. */
export function blocksOf(content: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

/** The text of a message's content. */
export function textOf(content: unknown): string {
  return blocksOf(content)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** An image, or a word in its place when it cannot be shown safely. */
export function renderImage(block: Readonly<Record<string, unknown>>): Html {
  const source = isJsonObject(block.source) ? block.source : {};
  const type = block.mimeType ?? source.mediaType ?? source.media_type;
  const data = block.data ?? source.data;
  const url = imageUrl(type, data);
  if (url !== undefined)
    return html`<img class="picture" src="${url}" alt="Image" loading="lazy" decoding="async">`;
  const isSvg = typeof type === "string" && /svg/i.test(type) && typeof data === "string";
  if (!isSvg) return html`<p class="note">Image that cannot be shown (${String(type)})</p>`;
  const text = Buffer.from(data, "base64").toString("utf8");
  return foldable("SVG image, as text", codeBlock(html`${text}`), false);
}

/** Text as Markdown, images, and blocks of other types as data. */
export function renderContent(content: unknown, { markdown }: Renderer): Html[] {
  return blocksOf(content).map((block) => {
    if (block.type === "text") return markdown(String(block.text ?? ""));
    if (block.type === "image") return renderImage(block);
    return renderData(String(block.type), block);
  });
}

/** A collapsible element. */
export function foldable(title: string | Html, content: Html, isOpen: boolean, kind = ""): Html {
  return isOpen
    ? html`<details class="fold ${kind}" open><summary>${title}</summary>${content}</details>`
    : html`<details class="fold ${kind}"><summary>${title}</summary>${content}</details>`;
}

/** Text with its number of lines, folded when it is long. */
export function foldedText(title: string, text: string, shown: Html): Html {
  const lines = countLines(text);
  const label = `${title} · ${lines} ${lines === 1 ? "line" : "lines"}`;
  return foldable(label, codeBlock(shown), lines <= foldedLines);
}

/** Output of a program. */
export function renderOutput(text: string, title = "Output"): Html | undefined {
  const cleaned = withoutTrailing(terminalText(text), "\n");
  return cleaned.trim() === "" ? undefined : foldedText(title, cleaned, html`${cleaned}`);
}

/** Data of any shape as folded JSON. */
export function renderData(title: string, value: unknown): Html {
  return foldable(title, codeBlock(html`${jsonText(value)}`), false, "data");
}
