/**
 * Loaded into a host to simulate the passing of minutes. The host's clock is ahead by the amount in the file
 * of `BillClock`, and its timers of two seconds or more run by that clock. A second file reports the time the
 * host has seen and how many of those timers have run.
 */
import { openSync, readSync, writeSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import timers from "node:timers";
import promises from "node:timers/promises";

const { TAU_BENCH_CLOCK: path = "", TAU_BENCH_PID: parent } = process.env;
const file = openSync(path, "r");
const seen = process.ppid === Number(parent) ? openSync(`${path}.seen`, "r+") : undefined;
const { setTimeout: start, setInterval: repeat, clearTimeout: stop, Date: SystemDate } = globalThis;
const bytes = Buffer.alloc(16);
const LONG = 2_000;
const POLL = 3;
let ahead = 0;
let fired = 0;
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
  if (!(delay >= LONG)) return start(callback, delay, ...args);
  let due = now() + delay;
  const timer = repeat(() => {
    if (now() < due) return;
    stop(timer);
    fired++;
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

if (seen !== undefined) {
  let told = "";
  // Reports two rounds late, when the timers of this moment have run.
  let last = 0;
  repeat(() => {
    const text = `${last} ${fired}`.padEnd(32);
    if (text !== told) writeSync(seen, text, 0);
    told = text;
    now();
    last = ahead;
  }, POLL).unref();
}

globalThis.setTimeout = setTimeout;
timers.setTimeout = setTimeout;
promises.setTimeout = wait;
syncBuiltinESMExports();
