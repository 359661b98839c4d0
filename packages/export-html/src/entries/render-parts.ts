import {
  codeBlock,
  type Highlight,
  type Html,
  html,
  imageUrl,
  type RenderMarkdown,
} from "@tau-agent/markup";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { EntryTimes } from "./entry-times.ts";
import { fieldText, jsonText } from "./facts.ts";
import type { PageImages } from "./page-images.ts";
import { renderLines } from "./render-lines.ts";
import type { SessionOutline } from "./session-outline.ts";
import type { TaskFiles } from "./task-files.ts";

export interface Renderer {
  readonly outline: SessionOutline;
  readonly onPath: ReadonlySet<number>;
  readonly times: EntryTimes;
  readonly files: TaskFiles;
  readonly images: PageImages;
  /** The entry with the last todo list of the current branch. */
  readonly todosAt: number | undefined;
  readonly markdown: RenderMarkdown;
  readonly highlight: Highlight;
}

/** The blocks of a message's content; a string is one text block, anything else is empty. */
export function blocksOf(content: unknown): Readonly<Record<string, unknown>>[] {
  if (typeof content === "string") return [{ type: "text", text: content }];
  return Array.isArray(content) ? content.filter(isJsonObject) : [];
}

export function textOf(content: unknown): string {
  return blocksOf(content)
    .map(({ type, text }) => (type === "text" && typeof text === "string" ? text : ""))
    .filter((text) => text !== "")
    .join("\n");
}

/** An image, or a word in its place if it cannot be shown safely. */
export function renderImage(block: Readonly<Record<string, unknown>>, { images }: Renderer): Html {
  const source = isJsonObject(block.source) ? block.source : {};
  const type = block.mimeType ?? source.mediaType ?? source.media_type;
  const data = block.data ?? source.data;
  const url = imageUrl(type, data);
  if (url !== undefined) {
    const number =
      typeof data === "string" && url.endsWith(`,${data}`) ? images.add(data) : undefined;
    return number === undefined
      ? html`<img class="picture" src="${url}" alt="Image" decoding="async">`
      : html`<img class="picture" src="${url}" alt="Image" decoding="async" data-image="${number}">`;
  }
  const isSvg = typeof type === "string" && /svg/i.test(type) && typeof data === "string";
  if (!isSvg) return html`<p class="note">Image that cannot be shown (${fieldText(type)})</p>`;
  const text = Buffer.from(data, "base64").toString("utf8");
  return foldable("SVG image, as text", codeBlock(html`${text}`), false);
}

/** Text as Markdown, images, and blocks of other types as data. */
export function renderContent(content: unknown, renderer: Renderer): Html[] {
  return blocksOf(content).map((block) => {
    if (block.type === "text") return renderer.markdown(fieldText(block.text ?? ""));
    if (block.type === "image") return renderImage(block, renderer);
    return renderData(fieldText(block.type), block);
  });
}

export function foldable(title: string | Html, content: Html, isOpen: boolean, kind = ""): Html {
  const name = kind === "" ? "fold" : `fold ${kind}`;
  return isOpen
    ? html`<details class="${name}" open><summary>${title}</summary>${content}</details>`
    : html`<details class="${name}"><summary>${title}</summary>${content}</details>`;
}

export function renderData(title: string, value: unknown): Html {
  return foldable(title, renderLines(jsonText(value)), false, "data");
}
