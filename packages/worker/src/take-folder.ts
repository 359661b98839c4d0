import type { CheckedOut, Checkout } from "./checkout.ts";

/** How often a line reports what a job waits for. */
const NOTICE_MS = 10_000;
/** How long a checkout may take. Large repositories come over slow networks. */
export const CHECKOUT_MS = 600_000;

interface FolderRequest {
  readonly checkout: Checkout;
  readonly job: Omit<Parameters<Checkout>[0], "signal">;
  /** Aborts when the worker ends. */
  readonly signal: AbortSignal;
  readonly report: (line: string) => void;
  readonly release: (folder: CheckedOut) => Promise<void>;
}

/**
 * Waits for a job's folder, reports a long wait, and gives up when the checkout takes too long.
 *
 * @throws the checkout's error, or an error after {@link CHECKOUT_MS}
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
