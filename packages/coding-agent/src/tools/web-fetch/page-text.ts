import { ToolError } from "@tau-agent/agent";
import type { ForeignReply } from "@tau-agent/system";

const textTypes =
  /^(?:text\/|application\/(?:.*\+)?(?:json|xml|javascript|yaml|x-yaml|toml|x-sh|x-ndjson)$)/;
const htmlTypes = /^(?:text\/html|application\/xhtml\+xml)$/;
/** How many bytes of a page are searched for its encoding. */
const headBytes = 1024;

/** The text of a response: the main part of a web page, the pages of a PDF, or any other text unchanged. */
export async function pageText(reply: ForeignReply, signal: AbortSignal): Promise<string> {
  const { body, contentType, url } = reply;
  const type = contentType.split(";")[0]?.trim().toLowerCase() ?? "";
  if (body.length === 0) return "(empty)";
  if (type === "application/pdf" || body.subarray(0, 5).toString("latin1") === "%PDF-") {
    const { pdfPages } = await import("@tau-agent/system/pdf-pages");
    const read = await pdfPages({ bytes: body }, signal);
    if ("text" in read) return read.text;
    throw new ToolError(`Cannot read the PDF at ${url}: ${read.reason}.`);
  }
  const text = decoded(body, contentType);
  const isPage =
    htmlTypes.test(type) || (type === "" && /^\s*<(?:!doctype html|html)[\s>]/i.test(text));
  if (isPage) return mainPart(text, url, signal);
  if (textTypes.test(type) || (type === "" && !body.includes(0))) return text;
  throw new ToolError(`${url} is ${type || "binary data"}, not a page, text or PDF.`);
}

async function mainPart(html: string, url: string, signal: AbortSignal): Promise<string> {
  const { readDocument } = await import("@tau-agent/system/read-document");
  const read = await readDocument({ kind: "html", html, url }, signal);
  if (read.kind === "failed")
    throw new ToolError(`Cannot read the page at ${url}: ${read.reason}.`);
  if (read.kind !== "page") throw new Error("A page was read as something else");
  const title = read.title === "" ? "" : `Title: ${read.title}\n\n`;
  return `${title}${read.markdown === "" ? "(no text)" : read.markdown}`;
}

/** Decodes a body with the encoding named by the header, the first bytes or the page itself; by default UTF-8. */
function decoded(body: Buffer, contentType: string): string {
  const head = body.subarray(0, headBytes).toString("latin1");
  const marks = [
    ["\xEF\xBB\xBF", "utf-8"],
    ["\xFF\xFE", "utf-16le"],
    ["\xFE\xFF", "utf-16be"],
  ] as const;
  const marked = marks.find(([mark]) => head.startsWith(mark))?.[1];
  const named = /charset\s*=\s*["']?([\w:-]+)/i;
  const label = marked ?? named.exec(contentType)?.[1] ?? named.exec(head)?.[1] ?? "utf-8";
  try {
    return new TextDecoder(label).decode(body);
  } catch {
    return new TextDecoder().decode(body);
  }
}
