import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { environmentFrom } from "../process/environment.ts";
import { models } from "./models.ts";

async function run(words: readonly string[], variables: Record<string, string> = {}) {
  const folder = mkdtempSync(join(tmpdir(), "tau-models-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const printed: string[] = [];
  const given = {
    HOME: folder,
    PI_CODING_AGENT_DIR: folder,
    OLLAMA_HOST: "127.0.0.1:1",
    ...variables,
  };
  const places = { cwd: folder, program: [], sessionHandle: undefined, ...environmentFrom(given) };
  const exitCode = await models.run(words, {
    environment: places,
    output: undefined as never,
    print: (text) => printed.push(text),
    commands: [],
  });
  return { folder, exitCode, printed: printed.join("") };
}

it("lists the models that have a key", async () => {
  const { exitCode, printed } = await run(["gpt-oss"], { GROQ_API_KEY: "k" });
  expect(exitCode).toBe(0);
  expect(printed).toMatch(/^provider +model/);
  expect(printed).toMatch(/^groq +openai\/gpt-oss-120b +131\.1K/m);
  expect(printed).not.toContain("llama");
});

it("keeps newer facts that a provider reports", async () => {
  const answers: Record<string, unknown> = {
    "/api.json": { openai: { models: { a: { id: "gpt-99", limit: { context: 500_000 } } } } },
    "/v1/models": { data: [{ id: "gpt-99" }, { id: "gpt-5" }] },
  };
  const server = createServer((request, response) => {
    response.end(JSON.stringify(answers[request.url ?? ""]));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const variables = { OPENAI_API_KEY: "k", OPENAI_BASE_URL: `${url}/v1` };
  const { folder, exitCode, printed } = await run(
    ["refresh", "--from", `${url}/api.json`],
    variables,
  );
  expect({ exitCode, printed }).toEqual({
    exitCode: 0,
    printed: "openai: 2 models; new: gpt-99\n",
  });
  const kept = readFileSync(join(folder, "model-facts", "openai.json"), "utf8");
  expect(JSON.parse(kept)).toMatchObject({
    models: [{ id: "gpt-99", contextWindow: 500_000 }, {}],
  });
});

it("rejects unknown words before it sends a request", async () => {
  await expect(run(["refresh", "nobody"])).rejects.toThrow(/nobody.*no such provider/);
  await expect(run(["refresh", "--from", "file:///x"])).rejects.toThrow(/http or https URL/);
  await expect(run(["--from", "https://x.example"])).rejects.toThrow(/tau models refresh/);
});
