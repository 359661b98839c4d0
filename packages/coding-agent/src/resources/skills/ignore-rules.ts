import type { Diagnostic } from "../../base/diagnostic.ts";
import { leftOut } from "../files/text-bounds.ts";

/** Wildcards of one pattern; the time a match takes grows with the power of their number. */
const MAX_WILDCARDS = 5;
const MAX_WILDCARDS_IN_NAME = 3;
const MAX_PATTERNS = 1000;

/**
 * The patterns of an ignore file that can be matched quickly, and a diagnostic for the others: the
 * file may come with a project that wants to keep the host busy.
 */
export function boundedPatterns(
  path: string,
  text: string,
): { readonly patterns: readonly string[]; readonly diagnostics: readonly Diagnostic[] } {
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== "" && !line.startsWith("#"));
  const patterns = lines.slice(0, MAX_PATTERNS).filter(isQuick);
  const count = lines.length - patterns.length;
  if (count === 0) return { patterns, diagnostics: [] };
  const reason = `${count} of its patterns (at most ${MAX_PATTERNS} patterns with ${MAX_WILDCARDS} wildcards each are used)`;
  return { patterns, diagnostics: [leftOut(path, reason)] };
}

function isQuick(pattern: string): boolean {
  const wildcards = (text: string) => text.match(/\*+/g)?.length ?? 0;
  return (
    pattern.length <= 1000 &&
    wildcards(pattern) <= MAX_WILDCARDS &&
    pattern.split("/").every((name) => wildcards(name) <= MAX_WILDCARDS_IN_NAME)
  );
}
