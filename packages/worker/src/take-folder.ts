import type { CheckedOut, Checkout } from "./checkout.ts";

/** After this time a line names what a job waits for, and again each time it has passed. */
const NOTICE_MS = 10_000;
/** How long a checkout may take. Large repositories come over slow networks. */
export const CHECKOUT_MS = 600_000;

interface FolderRequest {
  readonly checkout: Checkout;
  readonly job: Omit<Parameters<Checkout>[0], "signal">;
  /** Aborted when the worker ends. */
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
  readonly release: (folder: CheckedOut) => Promise<void>;
}

/**
 * Waits for the folder of a job, says so after a while, and gives the checkout up when it takes too long.
 *
 * @throws what the checkout throws, and when it took too long
 */
export async function takeFolder(request: FolderRequest): Promise<CheckedOut> {
  const { checkout, job, signal, report, release } = request;
  const late = new AbortController();
  const began = performance.now();
  const notice = setInterval(() => {
    const seconds = Math.round((performance.now() - began) / 1_000);
    report(`waits for the checkout of its folder (${seconds} s)`);
  }, NOTICE_MS);
  const limit = setTimeout(() => {
    const reason = `waited ${CHECKOUT_MS / 1_000} s for the checkout of its folder`;
    late.abort(new Error(reason));
  }, CHECKOUT_MS);
  const folder = checkout({ ...job, signal: AbortSignal.any([signal, late.signal]) });
  const tooLate = new Promise<never>((_, reject) => {
    late.signal.addEventListener("abort", () => {
      folder.then(release, () => undefined);
      reject(late.signal.reason as Error);
    });
  });
  try {
    return await Promise.race([folder, tooLate]);
  } finally {
    clearInterval(notice);
    clearTimeout(limit);
  }
}
