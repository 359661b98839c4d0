/**
 * Loaded into a host, lets it see minutes pass that nobody waits for: its clock is ahead by what
 * the file of `BillClock` says, and its timers of two seconds and more run by that clock.
 */
import { openSync, readSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promises from "node:timers/promises";

const file = openSync(process.env.TAU_BENCH_CLOCK, "r");
const { setTimeout: start, setInterval: repeat, clearTimeout: stop } = globalThis;
const { Date: SystemDate, performance } = globalThis;
const bytes = Buffer.alloc(16);
const SHORT = 2_000;
const POLL = 4;
let ahead = 0;
let readAt = Number.NEGATIVE_INFINITY;

function now() {
  const at = performance.now();
  if (at - readAt > 1) {
    readAt = at;
    readSync(file, bytes, 0, bytes.length, 0);
    ahead = Number(bytes);
  }
  return SystemDate.now() + ahead;
}

globalThis.Date = new Proxy(SystemDate, {
  construct: (target, args, made) => Reflect.construct(target, args.length ? args : [now()], made),
  get: (target, name) => (name === "now" ? now : Reflect.get(target, name)),
});

function setTimeout(callback, delay, ...args) {
  if (!(delay >= SHORT)) return start(callback, delay, ...args);
  let due = now() + delay;
  const timer = repeat(() => {
    if (now() < due) return;
    stop(timer);
    callback(...args);
  }, POLL);
  timer.refresh = () => {
    due = now() + delay;
    return timer;
  };
  return timer;
}

function wait(delay, value, { signal, ref = true } = {}) {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(resolve, delay, value);
    if (!ref) timer.unref();
    const leave = () => {
      stop(timer);
      reject(signal.reason);
    };
    if (signal?.aborted) leave();
    signal?.addEventListener("abort", leave, { once: true });
  });
}

globalThis.setTimeout = setTimeout;
timers.setTimeout = setTimeout;
promises.setTimeout = wait;
syncBuiltinESMExports();
