/** Runs in every worker before its tests, so that what they write and start is recorded. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, inject } from "vitest";
import { currentTest } from "./record-host.ts";
import { noteUnrecorded, PRELOAD, Recording, watchSessionFiles, watchSpawns } from "./recording.ts";

const root = inject("recordings");
// A worker runs many files. Removes what the previous file has added, or a host would record itself once per file.
const given = (process.env.NODE_OPTIONS ?? "").replaceAll(/ ?--import=\S*\/preload\.mjs\?\S*/g, "");

/** Processes started from now on belong to the running test. */
function preloadForCurrentTest(): void {
  const url = pathToFileURL(join(root, PRELOAD));
  url.searchParams.set("to", root);
  url.searchParams.set("test", currentTest());
  process.env.NODE_OPTIONS = `${given} --import=${url.href}`;
}

const own = new Recording(root, { test: currentTest(), argv: [] });
watchSessionFiles((path, line) => own.append("sessions", `${currentTest()}\t${path}\t${line}\n`));
watchSpawns((command) => noteUnrecorded(root, { test: currentTest(), command }));
preloadForCurrentTest();
beforeEach(preloadForCurrentTest);
