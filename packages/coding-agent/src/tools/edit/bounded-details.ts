import { type ChangeDetails, splitLines, truncateHead } from "@tau-agent/system";

/** The description of a change in events and the session file. */
export interface BoundedDetails {
  readonly diff: string;
  /** Omitted if too long, because a part of it would be a different change. */
  readonly patch?: string;
  readonly firstChangedLine?: number;
  /** Set if something was truncated: the original sizes. */
  readonly truncation?: { readonly diffLines: number; readonly patchBytes: number };
}

const maxPatchBytes = 256 * 1024;

/** Limits the description of a huge change: the diff is truncated like tool output, and the patch is omitted. */
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
