import { readDocument } from "./read-document.ts";

/** A PDF, and the pages to read: all by default. */
export interface PdfSource {
  readonly bytes: Uint8Array;
  readonly first?: number | undefined;
  readonly last?: number | undefined;
  /** The most characters to return. */
  readonly maxLength?: number | undefined;
}

export interface PdfText {
  /** The pages, each after a line with its number. */
  readonly text: string;
  /** The last page in `text`, and the number of pages in the file. */
  readonly last: number;
  readonly total: number;
}

/** Why a PDF cannot be read, as a clause. */
export interface PdfProblem {
  readonly reason: string;
}

const maxBytes = 32 * 1024 * 1024;
const maxPages = 600;

/** The text of a PDF, page by page. */
export async function pdfPages(
  { bytes, first = 1, last, maxLength = Number.POSITIVE_INFINITY }: PdfSource,
  signal?: AbortSignal,
): Promise<PdfText | PdfProblem> {
  if (bytes.length > maxBytes) return { reason: "it is larger than 32 MiB" };
  const read = await readDocument({ kind: "pdf", bytes, first, last, maxPages }, signal);
  if (read.kind === "failed") return read;
  if (read.kind !== "pages") throw new Error("A PDF was read as something else");
  const { pages, total } = read;
  if (first > total) return { reason: `it has ${total} pages, and page ${first} was asked for` };
  const shown: string[] = [];
  let length = 0;
  for (const [at, text] of pages.entries()) {
    const head = `[Page ${first + at} of ${total}]`;
    const page = `${head}\n${text === "" ? "(no text; it may be an image)" : text}`;
    if (shown.length > 0 && length + page.length > maxLength) break;
    shown.push(
      page.length > maxLength
        ? `${page.slice(0, maxLength)}\n[The rest of the page is left out]`
        : page,
    );
    length += page.length + 2;
  }
  return { text: shown.join("\n\n"), last: first + shown.length - 1, total };
}
