import { formatSize, type OutputSnapshot } from "@tau-agent/system";

/** What a result's `details` say about output that was cut. */
export interface BashDetails {
  readonly truncation?: OutputSnapshot["truncation"];
  readonly fullOutputPath?: string;
}

/** The details of a result; undefined where no file has more of the output. */
export function bashDetails(snapshot: OutputSnapshot): BashDetails | undefined {
  const { truncation, fullOutputPath } = snapshot;
  if (!truncation.truncated && fullOutputPath === undefined) return undefined;
  return { truncation, ...(fullOutputPath !== undefined && { fullOutputPath }) };
}

/** The end of the output with a note on what is missing and where it is. */
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
