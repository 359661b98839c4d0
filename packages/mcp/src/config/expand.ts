/** A text with its variables replaced, or why that is impossible. */
export type Expanded = { readonly value: string } | { readonly reason: string };

export interface ExpandContext {
  readonly environment: Readonly<Record<string, string | undefined>>;
  /** Variables that a project's entry must not name. */
  readonly forbidden?: ReadonlySet<string> | undefined;
}

const variable = /\$\{([A-Za-z_]\w*)(?::-([^}]*))?\}/g;

export function variablesIn(text: string): string[] {
  return [...text.matchAll(variable)].map(([, name = ""]) => name);
}

/** Replaces `${NAME}` and `${NAME:-default}`; values are inserted literally and never expanded again. */
export function expandText(text: string, { environment, forbidden }: ExpandContext): Expanded {
  const names = variablesIn(text);
  const key = names.find((name) => forbidden?.has(name));
  if (key !== undefined) {
    return { reason: `it names ${key}, a key that servers of a project do not get` };
  }
  const unset: string[] = [];
  const value = text.replace(variable, (_, name: string, fallback?: string) => {
    const found = environment[name];
    if (found !== undefined && found !== "") return found;
    if (fallback === undefined && found === undefined) unset.push(name);
    return fallback ?? "";
  });
  if (unset.length === 0) return { value };
  return { reason: `the environment variable ${unset.join(" and ")} is not set` };
}

/** Resolves a leading `~/` against the user's home directory. */
export function expandHome(text: string, homeDirectory: string): string {
  return text.startsWith("~/") ? `${homeDirectory}${text.slice(1)}` : text;
}
