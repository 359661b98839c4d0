/**
 * The message of anything thrown: foreign code throws all kinds of values, some of which cannot be
 * converted to a string.
 */
export function errorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "";
  }
}
