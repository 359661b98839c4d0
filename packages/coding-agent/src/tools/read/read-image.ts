import { ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import {
  detectImageType,
  formatSize,
  normalizeImage,
  type ToolEnvironment,
} from "@tau-agent/system";
import { readWhole } from "../common/read-chunks.ts";

const maxFileBytes = 64 * 1024 * 1024;

/** An image file that is being read. */
export interface ImageFile {
  readonly shown: string;
  /** The first bytes of the file, or all of a small file. */
  readonly start: Buffer;
  readonly isWhole: boolean;
  readonly signal: AbortSignal;
}

/** Returns an image, or describes it to a text-only model. */
export async function readImage(
  path: string,
  { shown, start, isWhole, signal }: ImageFile,
  environment: ToolEnvironment,
): Promise<ToolResult> {
  const limits = { maxBytes: maxFileBytes, signal };
  const bytes = isWhole ? start : await readWhole(path, environment, limits);
  if (bytes === undefined) {
    const size = (await environment.workspace.stat(path))?.size ?? maxFileBytes;
    throw new ToolError(
      `Cannot show image ${shown}: ${formatSize(size)} is too large. Make it smaller with bash.`,
    );
  }
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
