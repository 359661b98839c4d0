import { statSync } from "node:fs";
import { isInside } from "../../base/files/isolated-tree.ts";
import { SandboxRefusal } from "../../processes/sandbox-refusal.ts";
import { isProtectedPlace } from "./protected-places.ts";
import { resolveLinks } from "./resolve-links.ts";

/** What paths of the host mean for the tools of a session; all are real. */
export interface PathPlan {
  readonly cwd: string;
  readonly writable: readonly string[];
  readonly denied: readonly string[];
  /** Where only the host writes, inside of what is writable. */
  readonly readOnly: readonly string[];
  /** What settings of git and of this host name in the working folder: it decides what runs outside. */
  readonly hostNamed: readonly string[];
}

/**
 * Why a path may not be read; undefined if it may.
 *
 * @param path where it is for the host, links not followed
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

/** The error that a model gets; clients and tests find the word `sandbox` in it. */
export function sandboxRefusal(
  verb: "read" | "write",
  shown: string,
  reason: string,
): SandboxRefusal {
  const text = `Cannot ${verb} ${shown}: refused by the sandbox, ${reason}.`;
  return new SandboxRefusal("sandbox_refused", text);
}

/** By another name: a hard link. */
function isSameFile(one: string, other: string): boolean {
  try {
    const [left, right] = [statSync(one), statSync(other)];
    return left.isFile() && left.dev === right.dev && left.ino === right.ino;
  } catch {
    return false;
  }
}
