import { ToolError } from "@tau-agent/agent";
import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import { formatSize, maxOutputBytes, type ToolEnvironment } from "@tau-agent/system";
import { readWhole } from "../common/read-chunks.ts";
import type { ImageFile } from "./read-image.ts";

const maxFileBytes = 32 * 1024 * 1024;
/** Limits for a file that is passed to the model directly, because it stays in the session: size and pages. */
const maxDocumentBytes = 3 * 1024 * 1024;
const maxDocumentPages = 100;

/** Returns a PDF page by page as text, and the file itself for models that accept PDFs. */
export async function readPdf(
  path: string,
  { shown, start, isWhole, signal, pages }: ImageFile & { readonly pages?: string | undefined },
  environment: ToolEnvironment,
): Promise<ToolResult> {
  const range = rangeOf(pages);
  const limits = { maxBytes: maxFileBytes, signal };
  const bytes = isWhole ? start : await readWhole(path, environment, limits);
  if (bytes === undefined) {
    const size = (await environment.workspace.stat(path))?.size ?? maxFileBytes;
    throw new ToolError(
      `Cannot read ${shown}: ${formatSize(size)} is more than 32 MiB. Split it with bash.`,
    );
  }
  const { pdfPages } = await import("@tau-agent/system/pdf-pages");
  const read = await pdfPages({ bytes, ...range, maxLength: maxOutputBytes }, signal);
  if ("reason" in read) throw new ToolError(`Cannot read ${shown}: ${read.reason}.`);
  const { text, last, total } = read;
  const isCut = last < Math.min(range.last ?? total, total);
  const rest = isCut ? `\n\n[Use pages="${last + 1}-${range.last ?? total}" to continue.]` : "";
  const isSent =
    pages === undefined &&
    bytes.length <= maxDocumentBytes &&
    total <= maxDocumentPages &&
    environment.modelReadsDocuments?.() === true;
  const document = {
    ...{ fileName: shown.split(/[\\/]/).at(-1) ?? shown, mimeType: "application/pdf" },
    ...{ data: bytes.toString("base64"), pages: total },
  };
  return {
    content: [
      { type: "text", text: `PDF of ${total} ${total === 1 ? "page" : "pages"}` },
      { type: "text", text: `${text}${rest}` },
    ],
    ...(isSent && { details: { document } }),
  };
}

/** The requested pages: `3`, `3-7` or `3-`. */
function rangeOf(pages: string | undefined): { first?: number; last?: number } {
  if (pages === undefined || pages.trim() === "") return {};
  const [, from, dash, to] = /^\s*(\d+)\s*(-)?\s*(\d+)?\s*$/.exec(pages) ?? [];
  const first = Number(from);
  const last = dash === undefined ? first : to === undefined ? undefined : Number(to);
  if (!(first >= 1) || (dash === undefined && to !== undefined) || (last ?? first) < first) {
    throw new ToolError(
      `pages is ${JSON.stringify(pages)}. Give a page or a range, as "3" or "3-7".`,
    );
  }
  return { first, ...(last !== undefined && { last }) };
}
