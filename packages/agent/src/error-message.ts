/** The message of anything thrown: code of others throws all kinds of things, some of which will not be a text. */
export function errorMessage(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return "";
  }
}
