/** Deeper than any tool's schema; `JSON.stringify` and recursive readers overflow the stack later. */
export const mostNested = 512;

/**
 * A value as JSON. A value that cannot be serialized (nested thousands of levels deep, or cyclic) becomes
 * text that is not JSON, so that a reader notices.
 */
export function jsonText(value: unknown): string {
  try {
    return JSON.stringify(value) ?? "";
  } catch {
    return "(a value that cannot be written as JSON)";
  }
}
