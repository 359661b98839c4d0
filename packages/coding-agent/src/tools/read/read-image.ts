import type { FileHandle } from "node:fs/promises";
import { ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import {
  detectImageType,
  formatSize,
  normalizeImage,
  type ToolEnvironment,
} from "@tau-agent/system";

const maxFileBytes = 64 * 1024 * 1024;

/** Shows an image file, or describes it to a text-only model. */
export async function readImage(
  file: FileHandle,
  shown: string,
  environment: ToolEnvironment,
): Promise<ToolResult> {
  const { size } = await file.stat();
  if (size > maxFileBytes) {
    throw new ToolError(
      `Cannot show image ${shown}: ${formatSize(size)} is too large. Make it smaller with bash.`,
    );
  }
  const bytes = await file.readFile();
  const image = await normalizeImage(bytes);
  if (image.kind === "unusable") {
    throw new ToolError(`Cannot show image ${shown}: ${image.reason}. Check or convert the file.`);
  }
  const title = `Read image file [${detectImageType(bytes)}]`;
  if (environment.modelSupportsImages?.() === false) {
    const text = `${title}\n[Image omitted: the current model takes no images.]`;
    return { content: [{ type: "text", text }] };
  }
  const text = image.note === undefined ? title : `${title}\n${image.note}`;
  return {
    content: [
      { type: "text", text },
      { type: "image", data: image.data, mimeType: image.mimeType },
    ],
  };
}
