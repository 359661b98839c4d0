/** What to do about a system limit, by error code. */
const remedies: Readonly<Record<string, string>> = {
  EMFILE:
    "Too many files are open: raise the limit (ulimit -n), or run fewer sessions and commands at once, and start the host again",
  ENFILE:
    "Too many files are open in the whole system: end other programs, or raise the system's limit, and try again",
};

/** The maximum number of causes to check; a chain of causes may be cyclic. */
const maxCauses = 10;

/** What to do if an error, or one of its causes, means that too many files are open. */
export function remedyOfLimit(error: unknown): string | undefined {
  let current = error;
  for (let count = 0; count < maxCauses && current instanceof Error; count += 1) {
    const code = codeOf(current);
    if (typeof code === "string" && Object.hasOwn(remedies, code)) return remedies[code];
    current = current.cause;
  }
  return undefined;
}

/** Errors of module loading have no code, only a message that begins with it. */
function codeOf(error: Error): unknown {
  const { code } = error as { readonly code?: unknown };
  return code ?? /^([A-Z]+): /.exec(error.message)?.[1];
}

/**
 * The message of anything thrown, with what to do if a system limit was reached. Third-party code throws all
 * kinds of values, some of which cannot be converted to a string.
 */
export function errorMessage(error: unknown): string {
  try {
    const message = error instanceof Error ? String(error.message) : String(error);
    const remedy = remedyOfLimit(error);
    return remedy === undefined || message.includes(remedy) ? message : `${remedy}. ${message}`;
  } catch {
    return "";
  }
}
