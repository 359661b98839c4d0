/** In every worker, before its tests: what they write and what they start is recorded. */
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { beforeEach, inject } from "vitest";
import { currentTest } from "./record-host.ts";
import { noteUnrecorded, PRELOAD, Recording, watchSessionFiles, watchSpawns } from "./recording.ts";

const root = inject("recordings");
// A worker runs many files: without what the file before has added, or a host would record itself for each.
const given = (process.env.NODE_OPTIONS ?? "").replaceAll(/ ?--import=\S*\/preload\.mjs\?\S*/g, "");

/** What is started from now on belongs to the test that runs. */
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
