/** Most lines a tool result shows. */
export const maxOutputLines = 2000;
/** Most UTF-8 bytes a tool result shows (50 KiB). */
export const maxOutputBytes = 51_200;

export interface TruncationResult {
  readonly content: string;
  readonly truncated: boolean;
  /** The limit that was hit first. */
  readonly truncatedBy: "lines" | "bytes" | null;
  readonly totalLines: number;
  readonly totalBytes: number;
  readonly outputLines: number;
  readonly outputBytes: number;
  /** Tail only: the one line shown is the end of a longer one. */
  readonly lastLinePartial: boolean;
  /** Head only: not even the first line fits, so nothing is shown. */
  readonly firstLineExceedsLimit: boolean;
  readonly maxLines: number;
  readonly maxBytes: number;
}

export interface TruncationLimits {
  readonly maxLines?: number;
  readonly maxBytes?: number;
}

interface Measured {
  readonly text: string;
  readonly lines: readonly string[];
  readonly totalBytes: number;
  readonly maxLines: number;
  readonly maxBytes: number;
}

/** Splits into lines; a final newline ends the last line and does not start another. */
export function splitLines(text: string): string[] {
  if (text === "") return [];
  const lines = text.split("\n");
  if (lines.at(-1) === "") lines.pop();
  return lines;
}

/** Keeps whole lines from the start. */
export function truncateHead(text: string, limits: TruncationLimits = {}): TruncationResult {
  const measured = measure(text, limits);
  if (fits(measured)) return untouched(measured);
  const kept: string[] = [];
  let bytes = 0;
  let truncatedBy: "lines" | "bytes" = "lines";
  for (const line of measured.lines) {
    if (kept.length === measured.maxLines) break;
    const cost = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (bytes + cost > measured.maxBytes) {
      truncatedBy = "bytes";
      break;
    }
    kept.push(line);
    bytes += cost;
  }
  // Every line fits, only the closing newline does not.
  if (kept.length === measured.lines.length) truncatedBy = "bytes";
  const firstLineExceedsLimit = kept.length === 0 && truncatedBy === "bytes";
  return { ...cut(measured, kept, truncatedBy), firstLineExceedsLimit };
}

/** Keeps whole lines from the end, or the end of the last line if that alone is too long. */
export function truncateTail(text: string, limits: TruncationLimits = {}): TruncationResult {
  const measured = measure(text, limits);
  if (fits(measured)) return untouched(measured);
  const kept: string[] = [];
  let bytes = 0;
  let truncatedBy: "lines" | "bytes" = "lines";
  let lastLinePartial = false;
  for (let index = measured.lines.length - 1; index >= 0; index--) {
    if (kept.length === measured.maxLines) break;
    const line = measured.lines[index] ?? "";
    const cost = Buffer.byteLength(line) + (kept.length > 0 ? 1 : 0);
    if (bytes + cost > measured.maxBytes) {
      truncatedBy = "bytes";
      if (kept.length === 0) {
        const end = lastBytes(line, measured.maxBytes);
        lastLinePartial = true;
        if (end !== "") kept.push(end);
      }
      break;
    }
    kept.push(line);
    bytes += cost;
  }
  if (kept.length === measured.lines.length && !lastLinePartial) truncatedBy = "bytes";
  kept.reverse();
  return { ...cut(measured, kept, truncatedBy), lastLinePartial };
}

/** The longest start of `text` that has at most `maxBytes` UTF-8 bytes and splits no character. */
export function firstBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let end = maxBytes;
  while (end > 0 && isContinuation(bytes[end])) end--;
  return bytes.toString("utf8", 0, end);
}

/** The longest end of `text` that has at most `maxBytes` UTF-8 bytes and splits no character. */
export function lastBytes(text: string, maxBytes: number): string {
  const bytes = Buffer.from(text);
  if (bytes.length <= maxBytes) return text;
  let start = bytes.length - maxBytes;
  while (start < bytes.length && isContinuation(bytes[start])) start++;
  return bytes.toString("utf8", start);
}

/** Cuts a line to `maxCharacters` UTF-16 units without splitting a surrogate pair. */
export function truncateLine(line: string, maxCharacters: number): string {
  if (line.length <= maxCharacters) return line;
  const last = line.charCodeAt(maxCharacters - 1);
  const end = last >= 0xd800 && last <= 0xdbff ? maxCharacters - 1 : maxCharacters;
  return `${line.slice(0, end)}... [truncated]`;
}

/** A size for people: `12B`, `1.5KB`, `2.0MB`. */
export function formatSize(bytes: number): string {
  if (bytes < 1024) return `${bytes}B`;
  if (bytes < 1024 * 1024) return `${(bytes / 1024).toFixed(1)}KB`;
  return `${(bytes / (1024 * 1024)).toFixed(1)}MB`;
}

function measure(text: string, limits: TruncationLimits): Measured {
  return {
    text,
    lines: splitLines(text),
    totalBytes: Buffer.byteLength(text),
    maxLines: limits.maxLines ?? maxOutputLines,
    maxBytes: limits.maxBytes ?? maxOutputBytes,
  };
}

function fits({ lines, totalBytes, maxLines, maxBytes }: Measured): boolean {
  return lines.length <= maxLines && totalBytes <= maxBytes;
}

function untouched({ text, lines, totalBytes, maxLines, maxBytes }: Measured): TruncationResult {
  return {
    content: text,
    truncated: false,
    truncatedBy: null,
    totalLines: lines.length,
    totalBytes,
    outputLines: lines.length,
    outputBytes: totalBytes,
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines,
    maxBytes,
  };
}

function cut(
  measured: Measured,
  kept: readonly string[],
  truncatedBy: "lines" | "bytes",
): TruncationResult {
  const content = kept.join("\n");
  return {
    content,
    truncated: true,
    truncatedBy,
    totalLines: measured.lines.length,
    totalBytes: measured.totalBytes,
    outputLines: kept.length,
    outputBytes: Buffer.byteLength(content),
    lastLinePartial: false,
    firstLineExceedsLimit: false,
    maxLines: measured.maxLines,
    maxBytes: measured.maxBytes,
  };
}

function isContinuation(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}
