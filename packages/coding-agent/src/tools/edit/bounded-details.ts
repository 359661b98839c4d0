import { type ChangeDetails, splitLines, truncateHead } from "@tau-agent/system";

/** What an event and the session file keep of a change. */
export interface BoundedDetails {
  readonly diff: string;
  /** Left out if it is too long: a part of it would be another change. */
  readonly patch?: string;
  readonly firstChangedLine?: number;
  /** There if something was cut: how much there was. */
  readonly truncation?: { readonly diffLines: number; readonly patchBytes: number };
}

const maxPatchBytes = 256 * 1024;

/** Cuts the description of a huge change: the diff like the output of tools, and the patch as a whole. */
export function boundedDetails(change: ChangeDetails): BoundedDetails {
  const { patch, ...rest } = change;
  const shown = truncateHead(change.diff);
  const patchBytes = Buffer.byteLength(patch);
  if (!shown.truncated && patchBytes <= maxPatchBytes) return change;
  const diffLines = splitLines(change.diff).length;
  const note = `... (${diffLines - shown.outputLines} more lines)`;
  return {
    ...rest,
    diff: shown.truncated ? [shown.content, note].filter(Boolean).join("\n") : change.diff,
    ...(patchBytes <= maxPatchBytes && { patch }),
    truncation: { diffLines, patchBytes },
  };
}
