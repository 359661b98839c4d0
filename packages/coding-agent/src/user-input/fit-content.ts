import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { ImageContent, TextContent } from "@tau-agent/rpc-protocol/messages";
import { isJsonObject, toPlainValue } from "@tau-agent/rpc-protocol/plain";
import { no as flag, mendMembers, optional, rulesOf, usage } from "@tau-agent/sessions/log";
import type { SettingsStore } from "@tau-agent/system";

type Block = TextContent | ImageContent;
const resultRules = rulesOf({
  usage: optional(usage),
  isError: optional(flag),
  terminate: optional(flag),
});

type Settings = Pick<SettingsStore, "get">;

/**
 * Turns content from a tool or an extension into blocks that any model accepts: other blocks become
 * text, and images are checked and scaled down like those of prompts. An image that a vendor
 * refuses would stay in the session and fail every later request.
 */
export function fitContent(content: unknown, settings: Settings): Block[] | Promise<Block[]> {
  const plain = toPlainValue(content);
  const blocks: unknown[] = Array.isArray(plain) ? plain : [plain ?? ""];
  if (blocks.every(isText)) return blocks;
  return Promise.all(blocks.map((block) => fitBlock(block, settings))).then((all) => all.flat());
}

/** {@link fitContent} for a complete tool result, which must be serialisable and cloneable. */
export async function fitResult(given: ToolResult, settings: Settings): Promise<ToolResult> {
  const result = toPlainValue(given);
  const content = await fitContent(result.content, settings);
  const fitted = content === result.content ? result : { ...result, content };
  return mendMembers(fitted, resultRules);
}

async function fitBlock(block: unknown, settings: Settings): Promise<Block[]> {
  if (isText(block)) return [block];
  if (!isImage(block)) return [text(textOf(block))];
  const { normalizeBase64 } = await import("@tau-agent/system/normalize-base64");
  const resizes = settings.get("images.autoResize");
  const image = await normalizeBase64(block.data, { resizes });
  if (image.kind === "unusable") return [text(`[An image is left out: ${image.reason}.]`)];
  const { data, mimeType, note } = image;
  return [...(note === undefined ? [] : [text(note)]), { type: "image", data, mimeType }];
}

const text = (value: string): TextContent => ({ type: "text", text: value });

function isText(block: unknown): block is TextContent {
  return isJsonObject(block) && block.type === "text" && typeof block.text === "string";
}

function isImage(block: unknown): block is ImageContent {
  return isJsonObject(block) && block.type === "image" && typeof block.data === "string";
}

/** An embedded MCP resource becomes its text, any other block its JSON. */
function textOf(block: unknown): string {
  if (typeof block === "string") return block;
  const resource = isJsonObject(block) ? block.resource : undefined;
  if (isJsonObject(resource) && typeof resource.text === "string") return resource.text;
  try {
    return JSON.stringify(block) ?? "";
  } catch {
    return "[Content that cannot be shown]";
  }
}
