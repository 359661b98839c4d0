import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** A folder that a job works in. */
export interface CheckedOut {
  readonly cwd: string;
  /** Called once the job has left the folder. */
  readonly release?: () => void | Promise<void>;
}

/** The default export of a `--checkout` module. */
export type Checkout = (job: {
  readonly sessionId: string;
  readonly project: unknown;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
}) => Promise<CheckedOut>;

/** Loads a module; without one, every job works in `cwd`. */
export async function loadCheckout(path: string | undefined, cwd: string): Promise<Checkout> {
  const folder = resolve(cwd);
  if (path === undefined) return async () => ({ cwd: folder });
  const module = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown };
  if (typeof module.default !== "function") {
    throw new TypeError(`--checkout: the default export of ${path} must be a function`);
  }
  return module.default as Checkout;
}
