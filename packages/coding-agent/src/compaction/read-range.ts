import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

/** The lines of a file that a `read` call shows; `endLine` is the first line that it does not show. */
export function readRange(
  { offset, limit }: Readonly<Record<string, unknown>>,
  details: unknown,
): { readonly firstLine: number; readonly endLine: number } {
  const firstLine = countOf(offset) ?? 1;
  const shown = Math.min(countOf(limit) ?? Infinity, shownLines(details) ?? Infinity);
  return { firstLine, endLine: firstLine + shown };
}

function countOf(value: unknown): number | undefined {
  const count = Number(value ?? Number.NaN);
  return count >= 1 ? Math.floor(count) : undefined;
}

/** How many lines were shown, if the output was truncated. */
function shownLines(details: unknown): number | undefined {
  const truncation = isJsonObject(details) ? details.truncation : undefined;
  return isJsonObject(truncation) ? countOf(truncation.outputLines) : undefined;
}
