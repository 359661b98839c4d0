import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import type { Environment } from "@tau-agent/system";

/** A configured value, or the reason why it cannot be read. */
export type ResolvedValue = { readonly value: string } | { readonly reason: string };

/** Runs a shell command and returns its output. */
export type CommandRunner = (command: string, environment: Environment) => Promise<string>;

const template = /\$(?:([$!])|\{([A-Za-z_]\w*)\}|([A-Za-z_]\w*))/g;

/**
 * Older files name a variable without `$`, so capitals with an underscore are read as a variable if
 * it is set. The drawback: a key of this form cannot be written literally while a variable with the
 * same name is set. The underscore excludes `PATH`, `HOME` and `USER`.
 */
const bareName = /^[A-Z][A-Z0-9]*(?:_[A-Z0-9]+)+$/;

/**
 * Resolves a value of auth.json or models.json: `!command` (its output), a template with `$NAME`,
 * `${NAME}`, `$$` and `$!`, or a literal. One unset variable leaves the whole value unresolved.
 */
export async function resolveConfigValue(
  raw: string,
  context: { readonly environment: Environment; readonly runCommand: CommandRunner },
): Promise<ResolvedValue> {
  const { environment } = context;
  if (raw.startsWith("!")) {
    try {
      const value = (await context.runCommand(raw.slice(1), environment)).trim();
      return value === "" ? { reason: "its command printed nothing" } : { value };
    } catch (error) {
      return { reason: errorMessage(error) };
    }
  }
  const named = bareName.test(raw) ? environment[raw] : undefined;
  if (named !== undefined && named !== "") return { value: named };
  const unset = unsetVariables(raw, environment);
  if (unset.length > 0) return { reason: `${unset.join(" and ")} is not set` };
  const value = raw.replace(
    template,
    (_, escaped?: string, braced?: string, plain?: string) =>
      escaped ?? environment[braced ?? plain ?? ""] ?? "",
  );
  return value === "" ? { reason: "it is empty" } : { value };
}

function unsetVariables(raw: string, environment: Environment): string[] {
  const names = [...raw.matchAll(template)].map((match) => match[2] ?? match[3]);
  return [...new Set(names)].filter(
    (name): name is string => name !== undefined && (environment[name] ?? "") === "",
  );
}

/** Whether a value may be resolvable, decided without running a command. */
export function mayResolve(raw: string, environment: Environment): boolean {
  if (raw.startsWith("!")) return raw.trim().length > 1;
  return raw !== "" && unsetVariables(raw, environment).length === 0;
}
