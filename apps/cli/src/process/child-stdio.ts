import childProcess, { ChildProcess } from "node:child_process";
import { syncBuiltinESMExports } from "node:module";
import { isJsonObject } from "@tau-agent/rpc-protocol/plain";

type Call = (this: unknown, ...given: unknown[]) => unknown;

/**
 * What a child gets for a descriptor of this process: commands are read only by the host, frames are written
 * only by the host.
 */
const replacements: readonly (string | number)[] = ["ignore", 2];

/**
 * Keeps the child processes of extensions away from the commands on stdin and the frames on stdout: a child
 * that would inherit stdin reads nothing, and one that would inherit stdout writes to stderr.
 */
export function protectStdio(): void {
  const { prototype } = ChildProcess as unknown as { prototype: { spawn: Call } };
  const { spawn } = prototype;
  // All synchronous functions end up here.
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

/** The arguments of a call with its options replaced. */
function withOwnStdio(given: readonly unknown[]): unknown[] {
  return given.map((value) => {
    if (!isJsonObject(value)) return value;
    const { stdio } = value;
    return stdio === undefined ? value : { ...value, stdio: ownStdio(stdio) };
  });
}

/** The replacement for `stdio`, in any of the forms that Node accepts. */
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
