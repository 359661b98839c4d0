export interface RulePattern {
  /** The pattern as written in the file. */
  readonly written: string;
  readonly source: string;
  /** Without `g` and `y`, which do not affect whether there is a match. */
  readonly flags: string;
  /** Whether a match cannot span lines, so that a search may start at the last line. */
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

/** The start of a pattern or of its problem, long enough to identify it. */
export function clipped(text: string): string {
  return text.length > 200 ? `${text.slice(0, 100)}…${text.slice(-100)}` : text;
}

/** Errs on the side of false: anything that might match or inspect a line break counts as doing so. */
function isLineBound(source: string, flags: string): boolean {
  const isSuspect = /\\[snrWDPpxuck0-9]|\\?[\tbtfv]-|\[\^|\(\?[^:=!<]|[\n\r]/.test(source);
  return !flags.includes("s") && !isSuspect;
}
