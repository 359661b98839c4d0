export interface RulePattern {
  /** As the file says it. */
  readonly written: string;
  readonly source: string;
  /** Without `g` and `y`, which say nothing about whether there is a match. */
  readonly flags: string;
  /** Whether no match can reach beyond one line, so that a search may begin at the last one. */
  readonly isLineBound: boolean;
}

const usableFlags = /^[dgimsuvy]*$/;

/**
 * Reads `source`, `/source/flags` or `(?flags)source`.
 *
 * @returns the pattern, or why it is invalid
 */
export function parsePattern(written: string): RulePattern | { readonly problem: string } {
  const literal = /^\/((?:[^/\\[]|\\.|\[(?:[^\]\\]|\\.)*\])+)\/([a-z]*)$/s.exec(written);
  const inline = literal === null ? /^\(\?([a-z]+)\)/.exec(written) : null;
  const source = literal?.[1] ?? written.slice(inline?.[0].length ?? 0);
  const given = literal?.[2] ?? inline?.[1] ?? "";
  if (!usableFlags.test(given)) return { problem: `its flags ${given} are unknown` };
  const flags = [...new Set(given.replace(/[dgy]/g, ""))].sort().join("");
  try {
    new RegExp(source, flags);
  } catch (error) {
    return { problem: error instanceof Error ? error.message : String(error) };
  }
  return { written, source, flags, isLineBound: isLineBound(source, flags) };
}

/** Enough of a pattern, or of what is wrong with it, to know it by. */
export function clipped(text: string): string {
  return text.length > 200 ? `${text.slice(0, 100)}…${text.slice(-100)}` : text;
}

/** Errs on the side of no: whatever could stand for a line end, or look at one, is taken to. */
function isLineBound(source: string, flags: string): boolean {
  const isSuspect = /\\[snrWDPpxuck0-9]|\\?[\tbtfv]-|\[\^|\(\?[^:=!<]|[\n\r]/.test(source);
  return !flags.includes("s") && !isSuspect;
}
