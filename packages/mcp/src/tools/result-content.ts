import { isDeepStrictEqual } from "node:util";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { isJsonObject, type JsonObject } from "@tau-agent/rpc-protocol/plain";
import { attempt, formatSize, normalizeBase64, OutputSanitizer } from "@tau-agent/system";
import { cleanLine } from "../names/clean-text.ts";

type Content = ToolResult["content"][number];

/** Keeps data that the model does not read itself; returns the path of a private file. */
export type KeepData = (data: Buffer, extension: string) => Promise<string>;

export interface ContentContext {
  readonly server: string;
  readonly keep: KeepData;
  /** Whether `read_mcp_resource` is available to read linked resources. */
  readonly canRead: boolean;
}

const MAX_LABEL = 300;
const textType = /^(text\/|application\/(json|xml|.*\+json|.*\+xml))/;

/** The content of a result for the model: texts and images; everything else is described in a text. */
export async function resultContent(
  { content, structuredContent }: JsonObject,
  context: ContentContext,
): Promise<Content[]> {
  const blocks = Array.isArray(content) ? content.filter(isJsonObject) : [];
  const shown: Content[] = [];
  for (const block of blocks) shown.push(...(await contentOf(block, context)));
  if (structuredContent !== undefined && !isSaid(structuredContent, blocks)) {
    shown.push(text(JSON.stringify(structuredContent)));
  }
  return shown;
}

/** Whether a text already contains the structured content, as the protocol recommends. */
function isSaid(structured: unknown, blocks: readonly JsonObject[]): boolean {
  const texts = blocks.flatMap(({ type, text }) => (type === "text" ? [String(text)] : []));
  // Many servers wrap their text as the only member of an object.
  const [only, ...others] = isJsonObject(structured) ? Object.values(structured) : [];
  if (others.length === 0 && typeof only === "string" && texts.includes(only)) return true;
  return texts.some((text) => {
    return attempt(() => isDeepStrictEqual(JSON.parse(text), structured)) ?? false;
  });
}

async function contentOf(block: JsonObject, context: ContentContext): Promise<Content[]> {
  switch (block.type) {
    case "text":
      return [text(clean(String(block.text ?? "")))];
    case "image":
      return [await imageOf(block, block.data, context)];
    case "audio":
      return [await keptOf("Audio", block, block.data, context)];
    case "resource":
      return isJsonObject(block.resource) ? [await resourceContent(block.resource, context)] : [];
    case "resource_link":
      return [text(linkText(block, context))];
    default:
      return [text(`[Content of the unknown type ${label(block.type)}]`)];
  }
}

export async function resourceContent(
  resource: JsonObject,
  context: ContentContext,
): Promise<Content> {
  const { blob, mimeType, uri } = resource;
  if (typeof resource.text === "string") return text(clean(resource.text));
  if (typeof blob !== "string") return text(`[The resource ${label(uri)} is empty]`);
  if (String(mimeType).startsWith("image/")) return imageOf(resource, blob, context);
  if (textType.test(String(mimeType))) {
    return text(clean(Buffer.from(blob, "base64").toString("utf8")));
  }
  return keptOf(`Resource ${label(uri)}`, resource, blob, context);
}

async function imageOf(
  about: JsonObject,
  data: unknown,
  context: ContentContext,
): Promise<Content> {
  if (typeof data !== "string") return text("[An image without data]");
  const image = await normalizeBase64(data, { resizes: true });
  if (image.kind === "image") {
    return { type: "image", data: image.data, mimeType: image.mimeType };
  }
  return keptOf(`Image that cannot be shown (${image.reason})`, about, data, context);
}

async function keptOf(
  title: string,
  { mimeType, uri }: JsonObject,
  data: unknown,
  { keep }: ContentContext,
): Promise<Content> {
  if (typeof data !== "string") return text(`[${title} without data]`);
  const bytes = Buffer.from(data, "base64");
  const path = await keep(bytes, extensionOf(uri));
  const kind = mimeType === undefined ? "" : `${label(mimeType)}, `;
  return text(`[${title} (${kind}${formatSize(bytes.length)}) is in ${path}]`);
}

function linkText(block: JsonObject, { server, canRead }: ContentContext): string {
  const { uri, name, title, description } = block;
  const about = description === undefined ? "" : `: ${label(description)}`;
  const hint = canRead ? `. Read it with read_mcp_resource (server "${server}")` : "";
  return `[Resource ${label(uri)} "${label(title ?? name)}"${about}${hint}]`;
}

function label(value: unknown): string {
  return cleanLine(String(value ?? ""), MAX_LABEL);
}

function extensionOf(uri: unknown): string {
  return /\.[A-Za-z0-9]{1,8}$/.exec(String(uri ?? ""))?.[0] ?? ".bin";
}

function text(value: string): Content {
  return { type: "text", text: value };
}

/** A text without terminal sequences and control characters. */
function clean(value: string): string {
  return new OutputSanitizer().push(value);
}
