import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { firstBytes, formatSize, lastBytes, maxOutputBytes } from "@tau-agent/system";
import type { KeepData } from "./result-content.ts";

type Content = ToolResult["content"][number];

const MAX_IMAGES = 20;

/** Content of limited length, and the file with all of it if some was left out. */
export interface BoundedContent {
  readonly content: Content[];
  readonly fullOutputPath?: string | undefined;
}

/** Cuts out the middle of texts that are too long together; the full text goes to a private file. */
export async function boundContent(
  content: readonly Content[],
  keep: KeepData,
): Promise<BoundedContent> {
  const texts = content.flatMap((block) => (block.type === "text" ? [block.text] : []));
  const images = content.filter((block) => block.type === "image");
  const kept = images.slice(0, MAX_IMAGES);
  const omitted = images.length - kept.length;
  const note: Content[] =
    omitted === 0 ? [] : [{ type: "text", text: `[${omitted} further images are left out]` }];
  const whole = texts.join("\n");
  const bytes = Buffer.byteLength(whole);
  if (bytes <= maxOutputBytes) {
    const shown = new Set<Content>(kept);
    const fits = (block: Content) => block.type !== "image" || shown.has(block);
    return { content: [...content.filter(fits), ...note] };
  }
  const path = await keep(Buffer.from(whole), ".txt");
  const half = maxOutputBytes / 2;
  const left = formatSize(bytes - maxOutputBytes);
  const marker = `[… ${left} of ${formatSize(bytes)} left out here; all of it is in ${path} …]`;
  const text = `${firstBytes(whole, half)}\n${marker}\n${lastBytes(whole, half)}`;
  return { content: [{ type: "text", text }, ...kept, ...note], fullOutputPath: path };
}
