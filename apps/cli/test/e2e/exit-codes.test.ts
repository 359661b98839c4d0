import { spawnSync } from "node:child_process";
import { appendFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { makePlace, type Place } from "../support/place.ts";
import { binPath, startHost } from "../support/start-host.ts";

function keptPlace(): Place {
  const place = makePlace({ scenario: ["fine"] });
  onTestFinished(place.remove);
  return { ...place, remove: () => {} };
}

const withWords = (place: Place, ...words: string[]): Place => ({
  ...place,
  arguments: [...place.arguments, ...words],
});

async function exitCodeOf(place: Place, ...words: string[]) {
  const host = startHost({}, { place: withWords(place, ...words) });
  const { code } = await host.ended;
  return { code, stdout: host.stdout };
}

const header = { type: "session", version: 3, id: "s", timestamp: "2026-11-24T00:00:00.000Z" };

it("exits with 3 if another process holds the session", async () => {
  const place = keptPlace();
  const words = ["--session-id", "taken"];
  const first = startHost({}, { place: withWords(place, ...words) });
  first.send({ type: "prompt", message: "hi" });
  await first.until({ "...": true, type: "agent_settled" });
  expect(await exitCodeOf(place, ...words)).toEqual({ code: 3, stdout: "" });
  await first.finish();
});

it("exits with 4 if the session is damaged", async () => {
  const place = keptPlace();
  const path = join(place.folder, "damaged.jsonl");
  writeFileSync(path, `${JSON.stringify({ ...header, id: 7 })}\n`);
  appendFileSync(path, "{\n");
  expect(await exitCodeOf(place, "--session", path)).toEqual({ code: 4, stdout: "" });
});

it("exits with 1 for a usage error", async () => {
  expect(await exitCodeOf(keptPlace(), "--thinking", "much")).toEqual({ code: 1, stdout: "" });
});

it("tau help exit-codes lists the codes", () => {
  const { status, stdout } = spawnSync(process.execPath, [binPath, "help", "exit-codes"]);
  expect(status).toBe(0);
  expect(String(stdout)).toMatch(/^ *3 +Another process holds the session/m);
});
