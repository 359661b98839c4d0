/** Deeper than any tool's schema; `JSON.stringify` and recursive readers run out of stack later. */
export const mostNested = 512;

/**
 * A value as JSON. What cannot be written (nested thousands deep, or a loop) becomes a text that is no
 * JSON, so that whoever reads it back sees that something is wrong.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(a value that cannot be written as JSON)";
  }
}
