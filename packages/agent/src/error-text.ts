/** What was thrown as a text; code of others throws all kinds of things, some of which will not be one. */
export function errorText(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "";
  }
}
