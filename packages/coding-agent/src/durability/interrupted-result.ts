import type { ToolResult } from "@tau-agent/rpc-protocol/events";
import type { RestoredFiles } from "@tau-agent/worktrees";

const maxShown = 20;

/** What is known about a call that was cut off when its host died. */
export interface Interruption {
  /** Undefined if the call's changes were not recorded. */
  readonly files: RestoredFiles | undefined;
  /** Whether it ran a command, which may have acted elsewhere. */
  readonly ranCommand: boolean;
  readonly hasStarted: boolean;
}

/** The result of a call that ended with its host: it says what the call left behind. */
export function interruptedResult(interruption: Interruption): ToolResult {
  const { restored = [], left = [], notCovered = [] } = interruption.files ?? {};
  return {
    content: [{ type: "text", text: textOf(interruption) }],
    details: { interrupted: true, restored, left, notCovered },
    isError: true,
  };
}

function textOf({ files, ranCommand, hasStarted }: Interruption): string {
  if (!hasStarted) {
    return "Interrupted: the host ended before this call started. Nothing of it was done.";
  }
  const lines = ["Interrupted: the host ended while this call ran. It is not run again."];
  if (files === undefined) {
    lines.push(
      "What it changed was not recorded, so nothing was taken back. Look at what it left.",
    );
    return lines.join("\n");
  }
  const { restored, left, notCovered } = files;
  lines.push(
    restored.length === 0
      ? "None of the recorded files had been changed by it, or they were changed since."
      : `Restored as they were before it: ${shown(restored)}`,
  );
  if (left.length > 0)
    lines.push(`Not restored, because somebody else changed something since: ${shown(left)}`);
  if (notCovered.length > 0) lines.push(`Not recorded: ${shown(notCovered)}`);
  if (ranCommand) {
    lines.push(
      "What its command did outside of the folder, or over the network, is not taken back.",
    );
  }
  return lines.join("\n");
}

function shown(paths: readonly string[]): string {
  const more = paths.length - maxShown;
  return paths.slice(0, maxShown).join(", ") + (more > 0 ? ` and ${more} more` : "");
}
