import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { environmentFrom } from "../process/environment.ts";
import { record } from "./record.ts";

function placesFor(models: object) {
  const folder = mkdtempSync(join(tmpdir(), "tau-record-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const agentDirectory = join(folder, "agent");
  mkdirSync(agentDirectory);
  writeFileSync(join(agentDirectory, "models.json"), JSON.stringify(models));
  const printed: string[] = [];
  const variables = {
    PI_CODING_AGENT_DIR: agentDirectory,
    HOME: folder,
    WORK_KEY: "key-of-a-company-123",
  };
  const environment = { cwd: folder, program: [], ...environmentFrom(variables) };
  const run = (words: readonly string[]) =>
    record.run(words, {
      environment: { ...environment, sessionHandle: undefined },
      output: undefined as never,
      print: (text) => printed.push(text),
      commands: [],
    });
  return { folder, printed, run };
}

it("records a reply in a new folder without any key", async () => {
  await using server = await startLoopbackServer({
    scenario: ["Hello."],
    credentials: { key: "key-of-a-company-123" },
  });
  const work = {
    ...{ baseUrl: server.urls["openai-completions"], api: "openai-completions" },
    ...{ apiKey: "$WORK_KEY", models: [{ id: "m" }] },
  };
  const { folder, printed, run } = placesFor({ providers: { work } });
  const words = ["--provider", "work", "--model", "m", "--out", "kept", "Say hello"];
  expect(await run(words)).toBe(0);
  expect(printed.join("")).toMatch(/Recorded a reply of work\/m in .*kept: it ended with stop/);
  const files = readdirSync(join(folder, "kept"));
  expect(files).toHaveLength(4);
  for (const name of files) {
    expect(readFileSync(join(folder, "kept", name), "utf8")).not.toContain("key-of-a-company");
  }
  await expect(run(words)).rejects.toThrow(/kept.*is not empty/);
  expect(server.requestCount).toBe(1);
});

it.each([
  [["--model", "m", "--out", "x", "Hi"], /--provider/],
  [["--provider", "work", "--out", "x", "Hi"], /--model/],
  [["--provider", "work", "--model", "m", "Hi"], /--out/],
  [["--provider", "work", "--model", "m", "--out", "x"], /needs a prompt/],
  [["--provider", "nobody", "--model", "m", "--out", "x", "Hi"], /nobody/],
])("rejects %j before it sends or creates anything", async (words, message) => {
  const work = {
    baseUrl: "http://127.0.0.1:1/v1",
    api: "openai-completions",
    models: [{ id: "m" }],
  };
  const { folder, run } = placesFor({ providers: { work } });
  await expect(run(words)).rejects.toThrow(message);
  expect(readdirSync(folder)).toEqual(["agent"]);
});
