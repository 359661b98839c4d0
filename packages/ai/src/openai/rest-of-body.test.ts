import { afterEach, beforeEach, expect, it, vi } from "vitest";
import { withRestOfBody } from "./rest-of-body.ts";

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

/** A body of which the first piece is there, and what became of it. */
function body(next: (controller: ReadableStreamDefaultController<Uint8Array>) => void) {
  const seen = { reads: 0, isCancelled: false };
  const stream = new ReadableStream<Uint8Array>(
    {
      start: (controller) => controller.enqueue(Buffer.from("data: [DONE]\n\n")),
      pull(controller) {
        seen.reads += 1;
        next(controller);
      },
      cancel() {
        seen.isCancelled = true;
      },
    },
    { highWaterMark: 0 },
  );
  return { seen, fetch: withRestOfBody(async () => new Response(stream)) };
}

async function leaveAfterFirst(
  fetch: typeof globalThis.fetch,
  signal: AbortSignal,
): Promise<string> {
  const response = await fetch("http://one.invalid", { signal });
  const reader = response.body?.getReader();
  const { value } = (await reader?.read()) ?? {};
  await reader?.cancel();
  await vi.advanceTimersByTimeAsync(0);
  return Buffer.from(value ?? []).toString();
}

it("reads a body that was left to its end", async () => {
  const { seen, fetch } = body((controller) => {
    if (seen.reads < 3) controller.enqueue(Buffer.from("\n"));
    else controller.close();
  });
  expect(await leaveAfterFirst(fetch, new AbortController().signal)).toBe("data: [DONE]\n\n");
  expect(seen).toEqual({ reads: 3, isCancelled: false });
  await vi.advanceTimersByTimeAsync(2_000);
  expect(seen.isCancelled).toBe(false);
});

it("cancels a body that does not end within a second", async () => {
  const { seen, fetch } = body(() => {});
  await leaveAfterFirst(fetch, new AbortController().signal);
  await vi.advanceTimersByTimeAsync(900);
  expect(seen.isCancelled).toBe(false);
  await vi.advanceTimersByTimeAsync(200);
  expect(seen.isCancelled).toBe(true);
});

it("cancels the body of an aborted request at once", async () => {
  const { seen, fetch } = body(() => {});
  await leaveAfterFirst(fetch, AbortSignal.abort());
  expect(seen).toEqual({ reads: 0, isCancelled: true });
});

it("hands on what breaks a body off", async () => {
  const { fetch } = body((controller) => controller.error(new TypeError("terminated")));
  const response = await fetch("http://one.invalid");
  await expect(response.text()).rejects.toThrow("terminated");
});
