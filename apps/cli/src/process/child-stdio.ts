import childProcess, { ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

type Call = (this: unknown, ...given: unknown[]) => unknown;

/** What a descriptor of this process's is to a child: commands are the host's to read, frames its to write. */
const replacements: readonly (string | number)[] = ["ignore", 2];

/**
 * Keeps the children that extensions start away from the commands on stdin and the frames on stdout:
 * what would inherit stdin reads nothing, and what would inherit stdout writes to stderr.
 */
export function protectStdio(): void {
  const { prototype } = ChildProcess as unknown as { prototype: { spawn: Call } };
  const { spawn } = prototype;
  // All functions that do not wait for the child end here.
  prototype.spawn = function (this: unknown, ...given) {
    return spawn.apply(this, withOwnStdio(given));
  };
  const functions = childProcess as unknown as Record<string, Call>;
  for (const name of ["spawnSync", "execFileSync", "execSync"]) {
    const call = functions[name];
    if (call === undefined) continue;
    functions[name] = function (this: unknown, ...given) {
      return call.apply(this, withOwnStdio(given));
    };
  }
  syncBuiltinESMExports();
}

/** The arguments of a call, the options among them changed. */
function withOwnStdio(given: readonly unknown[]): unknown[] {
  return given.map((value) => {
    if (!isJsonObject(value)) return value;
    const { stdio } = value;
    return stdio === undefined ? value : { ...value, stdio: ownStdio(stdio) };
  });
}

/** What to use instead of `stdio`, in any of the forms that Node takes. */
export function ownStdio(stdio: unknown): unknown {
  const entries = stdio === "inherit" ? ["inherit", "inherit", "inherit"] : stdio;
  if (!Array.isArray(entries)) return stdio;
  return entries.map((entry: unknown, index) => {
    const descriptor = descriptorOf(entry, index);
    return descriptor === undefined ? entry : (replacements[descriptor] ?? entry);
  });
}

function descriptorOf(entry: unknown, index: number): number | undefined {
  if (entry === "inherit") return index;
  if (typeof entry === "number") return entry;
  const { fd, _handle } = Object(entry) as { fd?: unknown; _handle?: { fd?: unknown } | null };
  const descriptor = typeof fd === "number" ? fd : _handle?.fd;
  return typeof descriptor === "number" ? descriptor : undefined;
}
