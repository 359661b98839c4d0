import { statSync } from "node:fs";
import { resolve } from "node:path";
import { pathToFileURL } from "node:url";

/** A folder that a job works in. */
export interface CheckedOut {
  readonly cwd: string;
  /** Called once the job has finished with the folder. */
  readonly release?: () => void | Promise<void>;
}

/** The default export of a `--checkout` module. */
export type Checkout = (job: {
  readonly sessionId: string;
  readonly project: unknown;
  /** Aborts when the worker ends. */
  readonly signal: AbortSignal;
}) => Promise<CheckedOut>;

/** Loads a checkout module; without one, every job works in `cwd`. */
export async function loadCheckout(path: string | undefined, cwd: string): Promise<Checkout> {
  const folder = resolve(cwd);
  if (path === undefined) return async () => ({ cwd: folder });
  const module = (await import(pathToFileURL(resolve(path)).href)) as { default?: unknown };
  if (typeof module.default !== "function") {
    throw new TypeError(`--checkout: the default export of ${path} must be a function`);
  }
  const checkout = module.default as Checkout;
  return async (job) => {
    const folder: unknown = await checkout(job);
    if (isCheckedOut(folder)) return folder;
    throw new TypeError(`--checkout: ${path} must return {cwd} with the path of a folder`);
  };
}

function isCheckedOut(value: unknown): value is CheckedOut {
  const { cwd } = (value ?? {}) as { readonly cwd?: unknown };
  return (
    typeof cwd === "string" && statSync(cwd, { throwIfNoEntry: false })?.isDirectory() === true
  );
}
