import type { Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Wall time, and time on the processor, in µs. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * The time on the processor, in ms, of the longest task of a page's main thread in Chromium's trace. Other
 * programs of a busy machine do not count, as they do in the time of a clock.
 */
export async function longestTask(page: Page, work: () => Promise<unknown>): Promise<number> {
  const browser = page.context().browser();
  if (browser === null) throw new Error("the page has no browser");
  await browser.startTracing(page, {
    categories: ["toplevel", "devtools.timeline", "disabled-by-default-devtools.timeline"],
  });
  await work();
  const text = (await browser.stopTracing()).toString();
  const { traceEvents } = JSON.parse(text) as { traceEvents: TraceEvent[] };
  const threads = new Set(
    traceEvents.flatMap(({ name, args, pid, tid }) =>
      name === "thread_name" && args?.name === "CrRendererMain" ? [`${pid} ${tid}`] : [],
    ),
  );
  const tasks = traceEvents.filter(
    ({ name, pid, tid }) => name.endsWith("RunTask") && threads.has(`${pid} ${tid}`),
  );
  if (tasks.length === 0) throw new Error("the trace has no tasks");
  return Math.max(...tasks.map(({ tdur = 0 }) => tdur)) / 1_000;
}

/** What a fixed piece of work costs in this browser now: about 10 ms on a quiet machine of two cores. */
export function floorTask(page: Page): Promise<number> {
  return longestTask(page, () =>
    page.evaluate(() => {
      const rows = Array.from({ length: 12_000 }, (_, at) => ({ at, text: `row ${at}`.repeat(4) }));
      return JSON.parse(JSON.stringify(rows)).length;
    }),
  );
}
