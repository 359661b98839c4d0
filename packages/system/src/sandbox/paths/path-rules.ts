import { statSync } from "node:fs";
import { isInside } from "../../base/files/isolated-tree.ts";
import { SandboxRefusal } from "../../processes/sandbox-refusal.ts";
import { isProtectedPlace } from "./protected-places.ts";
import { resolveLinks } from "./resolve-links.ts";

/** What a session's tools may do with the host's paths; all paths are real. */
export interface PathPlan {
  readonly cwd: string;
  readonly writable: readonly string[];
  readonly denied: readonly string[];
  /** Paths inside the writable ones that only the host may write to. */
  readonly readOnly: readonly string[];
  /** Paths in the working folder that settings of git and of this host name, and that decide what runs outside. */
  readonly hostNamed: readonly string[];
}

/**
 * Why a path may not be read; undefined if it may.
 *
 * @param path the host's path, links not followed
 */
export function readRefusal(path: string, plan: PathPlan): string | undefined {
  const real = resolveLinks(path);
  if (real.isThroughProcess) return `the files of a process are closed (${path})`;
  const denied = plan.denied.find(
    (each) => isInside(each, real.path) || isSameFile(each, real.path),
  );
  return denied === undefined ? undefined : `it is not readable (${real.path})`;
}

export function writeRefusal(path: string, plan: PathPlan): string | undefined {
  const unreadable = readRefusal(path, plan);
  if (unreadable !== undefined) return unreadable;
  const real = resolveLinks(path).path;
  const isWritable = plan.writable.some((each) => isInside(each, real));
  if (!isWritable) {
    const where =
      plan.writable.length === 0 ? "" : `; writable are ${plan.writable.join(", ")} and /tmp`;
    return `it is not writable (${real}${where})`;
  }
  return isOfHost(real, plan)
    ? `it is read-only because it decides what runs outside (${real})`
    : undefined;
}

export function isOfHost(real: string, plan: PathPlan): boolean {
  return (
    plan.readOnly.some((each) => isInside(each, real)) ||
    (isInside(plan.cwd, real) && isProtectedPlace(plan.cwd, real, plan.hostNamed))
  );
}

/** The error for the model; clients and tests look for the word `sandbox` in it. */
export function sandboxRefusal(
  verb: "read" | "write",
  shown: string,
  reason: string,
): SandboxRefusal {
  const text = `Cannot ${verb} ${shown}: refused by the sandbox, ${reason}.`;
  return new SandboxRefusal("sandbox_refused", text);
}

/** Whether one path is another name (hard link) of the same file. */
function isSameFile(one: string, other: string): boolean {
  try {
    const [left, right] = [statSync(one), statSync(other)];
    return left.isFile() && left.dev === right.dev && left.ino === right.ino;
  } catch {
    return false;
  }
}
