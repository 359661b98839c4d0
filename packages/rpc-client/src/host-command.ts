import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { argv, execPath, getBuiltinModule, versions } from "node:process";

/** What starts a host. */
export interface HostCommandOptions {
  /** Program and arguments that start a host, e.g. `["docker", "exec", "-i", "box", "tau"]`. */
  readonly command?: readonly string[];
  /** A host's JavaScript entry, run with the Node that runs this client. */
  readonly cliPath?: string;
  readonly provider?: string;
  readonly model?: string;
  /** Further arguments of the host, after `--mode rpc`. */
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

/** What is added to the host's environment; Electron's own program is a Node only when told so. */
export function hostEnvironment(
  program: string,
  given: Readonly<Record<string, string | undefined>> | undefined,
): Readonly<Record<string, string | undefined>> | undefined {
  const isElectron = versions.electron !== undefined && program === execPath;
  return isElectron ? { ELECTRON_RUN_AS_NODE: "1", ...given } : given;
}

/**
 * An entry run with this Node beats the command on the PATH: that one is a shim on Windows, which
 * `spawn` cannot start, and may belong to another version.
 */
function defaultCommand(cliPath: string | undefined): readonly string[] {
  const entry = cliPath ?? installedEntry();
  return entry === undefined ? ["tau"] : [execPath, entry];
}

/**
 * The entry of the `@tau-agent/cli` that is installed beside this package, or that the running
 * application depends on. Never the one of the working directory: that may be a project nobody
 * trusts.
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
    // Bundlers resolve what they see of this when they build; it is the installed host that counts.
    const { createRequire } = getBuiltinModule("node:module");
    const manifestPath = createRequire(from).resolve("@tau-agent/cli/package.json");
    const manifest: unknown = JSON.parse(readFileSync(manifestPath, "utf8"));
    const entry = Reflect.get(Reflect.get(Object(manifest), "bin") ?? {}, "tau");
    return typeof entry === "string" ? join(dirname(manifestPath), entry) : undefined;
  } catch {
    return undefined;
  }
}
