/** A PDF, and which of its pages are wanted: all by default. */
export interface PdfSource {
  readonly bytes: Uint8Array;
  readonly first?: number | undefined;
  readonly last?: number | undefined;
}

export interface PdfText {
  /** The pages, each below a line with its number. */
  readonly text: string;
  /** How many there are. */
  readonly total: number;
}

export const maxPdfBytes = 32 * 1024 * 1024;
export const maxPdfPages = 600;

/** The text of a PDF by page, or why it cannot be read, as a clause. */
export async function pdfPages(
  { bytes, first = 1, last }: PdfSource,
  signal?: AbortSignal,
): Promise<PdfText | string> {
  if (bytes.length > maxPdfBytes) return "it is larger than 32 MiB";
  const { readDocument } = await import("@tau-agent/system/read-document");
  const task = { kind: "pdf", bytes, first, last, maxPages: maxPdfPages } as const;
  const read = await readDocument(task, signal);
  if (read.kind === "failed") return read.reason;
  if (read.kind !== "pages") throw new Error("A PDF was read as something else");
  const { pages, total } = read;
  const shown = pages.map((text, at) => {
    return `[Page ${first + at} of ${total}]\n${text === "" ? "(no text; it may be an image)" : text}`;
  });
  return { text: shown.join("\n\n"), total };
}
