import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, execPath, getBuiltinModule, versions } from "node:process";

/** How to start a host. */
export interface HostCommandOptions {
  /** Program and arguments that start a host, e.g. `["docker", "exec", "-i", "box", "tau"]`. */
  readonly command?: readonly string[];
  /** A host's JavaScript entry, run with the current Node. */
  readonly cliPath?: string;
  readonly provider?: string;
  readonly model?: string;
  /** More arguments for the host, after `--mode rpc`. */
  readonly args?: readonly string[];
}

/** The whole argument vector of the host, program first. */
export function hostCommand(options: HostCommandOptions): [string, ...string[]] {
  const [program, ...first] = options.command ?? defaultCommand(options.cliPath);
  const rest = [...first, "--mode", "rpc"];
  if (options.provider !== undefined) rest.push("--provider", options.provider);
  if (options.model !== undefined) rest.push("--model", options.model);
  return [program ?? "tau", ...rest, ...(options.args ?? [])];
}

/** Added to the host's environment; Electron's own program runs as Node only with this. */
export function hostEnvironment(
  program: string,
  given: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  const isElectron = versions.electron !== undefined && program === execPath;
  return isElectron ? { ELECTRON_RUN_AS_NODE: "1", ...given } : given;
}

/**
 * An entry run with the current Node is preferred over the command on the PATH: on Windows that is
 * a shim, which `spawn` cannot start, and it may belong to another version.
 */
function defaultCommand(cliPath: string | undefined): readonly string[] {
  const entry = cliPath ?? installedEntry();
  return entry === undefined ? ["tau"] : [execPath, entry];
}

/**
 * The entry of the `@tau-agent/cli` installed next to this package, or as a dependency of the
 * running application. Never the one in the working directory, which may be an untrusted project.
 */
function installedEntry(): string | undefined {
  for (const from of [import.meta.url, argv[1]]) {
    if (from === undefined) continue;
    const entry = entryFrom(from);
    if (entry !== undefined) return entry;
  }
  return undefined;
}

function entryFrom(from: string): string | undefined {
  try {
    // Hidden from bundlers, which would resolve this at build time; only the installed host counts.
    const { createRequire } = getBuiltinModule("node:module");
    const manifestPath = createRequire(from).resolve("@tau-agent/cli/package.json");
    const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
    const entry = Reflect.get(Reflect.get(Object(manifest), "bin") ?? {}, "tau");
    return typeof entry === "string" ? join(dirname(manifestPath), entry) : undefined;
  } catch {
    return undefined;
  }
}
