import { formatSize, type OutputSnapshot } from "@tau-agent/system";

/** The `details` of a result about truncated output. */
export interface BashDetails {
  readonly truncation?: OutputSnapshot["truncation"];
  readonly fullOutputPath?: string;
}

/** The details of a result; undefined if no file contains more of the output. */
export function bashDetails(snapshot: OutputSnapshot): BashDetails | undefined {
  const { truncation, fullOutputPath } = snapshot;
  if (!truncation.truncated && fullOutputPath === undefined) return undefined;
  return { truncation, ...(fullOutputPath !== undefined && { fullOutputPath }) };
}

/** The end of the output, with a note about what is missing and where it is. */
export function outputText(snapshot: OutputSnapshot): string {
  const { truncation } = snapshot;
  if (truncation.content === "") return "(no output)";
  if (!truncation.truncated) {
    if (snapshot.fullOutputPath === undefined) return truncation.content;
    return `${truncation.content.replace(/\n$/, "")}\n\n[${whereAllIs(snapshot)}]`;
  }
  return `${truncation.content}\n\n[${shownPart(snapshot)}. ${whereAllIs(snapshot)}]`;
}

function shownPart({ truncation, lastLineBytes, isFolded }: OutputSnapshot): string {
  const { totalLines, outputLines, outputBytes } = truncation;
  if (truncation.lastLinePartial) {
    const whole = formatSize(lastLineBytes);
    return `Showing last ${formatSize(outputBytes)} of line ${totalLines} (line is ${whole})`;
  }
  if (isFolded) return `Showing the end of ${totalLines} lines`;
  const range = `Showing lines ${totalLines - outputLines + 1}-${totalLines} of ${totalLines}`;
  if (truncation.truncatedBy === "lines") return range;
  return `${range} (${formatSize(truncation.maxBytes)} limit)`;
}

function whereAllIs({ fullOutputPath, spillFailure }: OutputSnapshot): string {
  if (spillFailure === undefined) return `Full output: ${fullOutputPath}`;
  return `Full output could not be saved to ${fullOutputPath}: ${spillFailure.message}`;
}
