import { formatSize, type OutputSnapshot } from "@tau-agent/system";

/** What a result's `details` say about output that was cut. */
export interface BashDetails {
  readonly truncation?: OutputSnapshot["truncation"];
  readonly fullOutputPath?: string;
}

/** The details of a result; undefined when all of the output is shown. */
export function bashDetails(snapshot: OutputSnapshot): BashDetails | undefined {
  const { truncation, fullOutputPath } = snapshot;
  if (!truncation.truncated) return undefined;
  return { truncation, ...(fullOutputPath !== undefined && { fullOutputPath }) };
}

/** The end of the output with a note on what is missing and where it is. */
export function outputText(snapshot: OutputSnapshot): string {
  const { truncation } = snapshot;
  if (truncation.content === "") return "(no output)";
  if (!truncation.truncated) return truncation.content;
  return `${truncation.content}\n\n[${shownPart(snapshot)}. ${whereAllIs(snapshot)}]`;
}

function shownPart({ truncation, lastLineBytes }: OutputSnapshot): string {
  const { totalLines, outputLines, outputBytes } = truncation;
  if (truncation.lastLinePartial) {
    const whole = formatSize(lastLineBytes);
    return `Showing last ${formatSize(outputBytes)} of line ${totalLines} (line is ${whole})`;
  }
  const range = `Showing lines ${totalLines - outputLines + 1}-${totalLines} of ${totalLines}`;
  if (truncation.truncatedBy === "lines") return range;
  return `${range} (${formatSize(truncation.maxBytes)} limit)`;
}

function whereAllIs({ fullOutputPath, spillFailure }: OutputSnapshot): string {
  if (spillFailure === undefined) return `Full output: ${fullOutputPath}`;
  return `Full output could not be saved to ${fullOutputPath}: ${spillFailure.message}`;
}
