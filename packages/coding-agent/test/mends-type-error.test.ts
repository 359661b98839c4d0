import { spawnSync } from "node:child_process";
import { cpSync, readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { type ScenarioFunction, toolCall, turn } from "@tau-agent/ai/testing";
import type { UserContent } from "@tau-agent/rpc-protocol/messages";
import { contentText } from "@tau-agent/rpc-protocol/plain";
import { type DiagnosticsEntry, SettingsStore } from "@tau-agent/system";
import { expect, it } from "vitest";
import {
  createTestSession,
  placesIn,
  temporaryFolder,
} from "../src/create/__fixtures__/test-session.ts";

const demo = join(import.meta.dirname, "../../../docs/examples/demo/project");
const examples = createRequire(join(demo, "../../package.json"));
const tsc = join(dirname(examples.resolve("typescript-5/package.json")), "bin/tsc");
const words = [
  "--noEmit",
  "--allowJs",
  "--checkJs",
  "--pretty",
  "false",
  "--target",
  "esnext",
  "--module",
  "nodenext",
];
const check: DiagnosticsEntry = {
  match: "src/**/*.js",
  command: `"${process.execPath}" "${tsc}" ${words.join(" ")} src/*.js`,
  format: "tsc",
};

const right = "return Math.round((cents * part) / whole);";
const wrong = "return Math.rond((cents * part) / whole);";

/** Makes a mistake, and fixes each problem that a result reports. */
const model: ScenarioFunction = ({ messages }) => {
  const edit = (oldText: string, newText: string) =>
    turn(toolCall("edit", { path: "src/money.js", oldText, newText }));
  const last = messages.at(-1);
  if (last?.role !== "toolResult") return edit(right, wrong);
  const told = contentText(last.content as UserContent[], "\n");
  const [, line] = /src\/money\.js:(\d+):\d+: error TS\d+ .*'rond'/.exec(told) ?? [];
  return line === undefined ? "Done." : edit(wrong, right);
};

/** The file after the model's work, and the results of its tools. */
async function work(entries: readonly DiagnosticsEntry[]) {
  const places = placesIn(temporaryFolder());
  cpSync(demo, places.cwd, { recursive: true });
  const { session } = await createTestSession(model, {
    ...places,
    settings: SettingsStore.inMemory({
      "diagnostics.entries": entries,
      diagnosticsTimeoutMs: 120_000,
    }),
  });
  await session.prompt("Make shareOf round.");
  const said = session.messages.flatMap((message) =>
    message.role === "toolResult" ? [contentText(message.content, "\n")] : [],
  );
  const run = spawnSync(process.execPath, [tsc, ...words, "src/money.js"], {
    cwd: places.cwd,
    encoding: "utf8",
  });
  return { said, file: readFileSync(join(places.cwd, "src/money.js"), "utf8"), errors: run.stdout };
}

it("lets a model fix its type error, without reporting older problems", async () => {
  const { said, file, errors } = await work([check]);
  expect(said).toHaveLength(2);
  expect(said[0]).toMatch(
    /\n\nNew problems:\nsrc\/money\.js:7:15: error TS2551 Property 'rond' does not exist/,
  );
  // The project has no type annotations: each parameter is an old problem.
  expect(said[0]?.split("\n").filter((line) => line.includes("error"))).toHaveLength(1);
  expect(said[1]).not.toContain("problems");
  expect(file).toContain(right);
  expect(errors).not.toContain("rond");
});

it("reports nothing without the setting, and the mistake stays", async () => {
  const { said, file, errors } = await work([]);
  expect(said).toEqual([expect.not.stringContaining("problems")]);
  expect(file).toContain(wrong);
  expect(errors).toContain("rond");
});
