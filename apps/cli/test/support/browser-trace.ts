import type { Page } from "playwright-core";

interface TraceEvent {
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  /** Elapsed time and CPU time, in µs. */
  readonly dur?: number;
  readonly tdur?: number;
  readonly args?: { readonly name?: string };
}

/**
 * The CPU time in ms of the longest main-thread task of a page, from Chromium's trace. Unlike elapsed time,
 * it does not depend on other programs of a busy machine.
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

/** The current duration of a fixed amount of work in this browser: about 10 ms on a quiet machine with two cores. */
export function floorTask(page: Page): Promise<number> {
  return longestTask(page, () =>
    page.evaluate(() => {
      const rows = Array.from({ length: 12_000 }, (_, at) => ({ at, text: `row ${at}`.repeat(4) }));
      return JSON.parse(JSON.stringify(rows)).length;
    }),
  );
}
