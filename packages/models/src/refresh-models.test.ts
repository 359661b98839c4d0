import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ProcessRegistry } from "@tau-agent/system";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { builtInCatalog } from "./catalog.ts";
import { createModelRegistry } from "./create-model-registry.ts";
import { refreshModels } from "./refresh-models.ts";

let agentDirectory: string;
beforeEach(() => {
  agentDirectory = mkdtempSync(join(tmpdir(), "tau-refresh-"));
});
afterEach(() => rmSync(agentDirectory, { recursive: true, force: true }));

const now = new Date("2030-01-02T03:04:05Z");
const environment = { GROQ_API_KEY: "key-of-groq" };

function registry() {
  const processes = new ProcessRegistry();
  return createModelRegistry({ agentDirectory, environment, processes, catalog: builtInCatalog() });
}

type Answers = Readonly<Record<string, unknown>>;

/** Answers by URL; a Response is returned unchanged, anything else as JSON. */
function answering(answers: Answers) {
  const asked: { url: string; headers: Headers }[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    asked.push({ url: String(input), headers: new Headers(init?.headers) });
    const answer = answers[String(input)];
    if (answer === undefined) return new Response("", { status: 404 });
    return answer instanceof Response ? answer : Response.json(answer);
  };
  return { asked, fetch };
}

const published = "https://models.dev/api.json";
const own = "https://api.groq.com/openai/v1/models";
const known = "openai/gpt-oss-120b";

function facts(models: Record<string, unknown>) {
  return { groq: { models } };
}
const priced = {
  id: known,
  limit: { context: 200_000, output: 50_000 },
  cost: { input: 9, output: 10, cache_read: 1 },
};

async function refresh(answers: Answers) {
  const { fetch, asked } = answering(answers);
  const report = await refreshModels({ registry: registry(), agentDirectory, fetch, now });
  return { report, asked };
}

describe("a refresh", () => {
  it("takes prices and windows from the public list, and new models from both lists", async () => {
    const { report, asked } = await refresh({
      [published]: facts({
        a: priced,
        b: { id: "openai/gpt-oss-999b", limit: { context: 300_000, output: 1000 } },
        c: { id: "no-tools", tool_call: false },
      }),
      [own]: { data: [{ id: known }, { id: "openai/gpt-oss-999b" }, { id: "whisper-large" }] },
    });
    const added = ["openai/gpt-oss-999b"];
    expect(report).toEqual([{ provider: "groq", models: 2, added, problems: [] }]);
    expect(asked.find(({ url }) => url === published)?.headers.get("authorization")).toBeNull();
    expect(asked.find(({ url }) => url === own)?.headers.get("authorization")).toBe(
      "Bearer key-of-groq",
    );
    const model = await registry().find("groq", known);
    expect(model).toMatchObject({ contextWindow: 200_000, maxTokens: 50_000 });
    expect(model?.cost).toMatchObject({ input: 9, output: 10, cacheRead: 1 });
    expect(await registry().find("groq", "openai/gpt-oss-999b")).toMatchObject({
      ...{ api: "openai-completions", baseUrl: "https://api.groq.com/openai/v1" },
      ...{ contextWindow: 300_000, maxTokens: 1000, reasoning: true },
    });
  });

  it("drops a new model that the provider's own list does not have", async () => {
    const { report } = await refresh({
      [published]: facts({ a: priced, b: { id: "gone-soon" } }),
      [own]: { data: [{ id: known }] },
    });
    expect(report[0]?.added).toEqual([]);
  });

  it("keeps earlier facts if a source fails, and names the source", async () => {
    await refresh({ [published]: facts({ a: priced }), [own]: { data: [] } });
    const { report } = await refresh({ [own]: new Response("<html>") });
    expect(report[0]?.problems).toEqual([
      `${published}: the server answered with status 404`,
      "groq: the answer is not JSON",
    ]);
    expect((await registry().find("groq", known))?.contextWindow).toBe(200_000);
  });

  it.each<[string, unknown]>([
    [
      "numbers that no model has",
      { ...priced, limit: { context: 1e300, output: -5 }, cost: { input: -1, output: "free" } },
    ],
    [
      "another address",
      {
        ...priced,
        baseUrl: "https://evil.example",
        api: "x",
        headers: { a: "b" },
        limit: {},
        cost: {},
      },
    ],
    ["an id with control characters", { id: "a\u0000b\n" }],
    ["an id of a prototype", { id: "__proto__" }],
    ["no object", "text"],
  ])("rejects %s", async (_, model) => {
    const before = await registry().models("groq");
    await refresh({ [published]: facts({ a: model }), [own]: new Response(null, { status: 500 }) });
    const after = await registry().models("groq");
    const addresses = (models: typeof before) => new Set(models.map(({ baseUrl }) => baseUrl));
    expect(addresses(after)).toEqual(addresses(before));
    expect(after.find(({ id }) => id === known)).toEqual(before.find(({ id }) => id === known));
    for (const { id } of after) expect(id).toMatch(/^[\w./:@~+-]+$/);
  });

  it("sends no key to other hosts, and refuses answers that are too large", async () => {
    const moved = new Response(null, {
      status: 302,
      headers: { location: "https://evil.example" },
    });
    const huge = new Response(`"${"x".repeat(17 * 1024 * 1024)}"`);
    const { report, asked } = await refresh({ [published]: huge, [own]: moved });
    expect(asked.map(({ url }) => url).sort()).toEqual([own, published].sort());
    expect(report[0]?.problems.join()).toMatch(/larger than.*status 302/);
    expect(readdirSync(agentDirectory)).toEqual([]);
  });
});

describe("facts of a refresh", () => {
  it("are ignored once the catalogue is newer", async () => {
    mkdirSync(join(agentDirectory, "model-facts"));
    const models = [{ id: known, contextWindow: 123_456 }];
    const file = join(agentDirectory, "model-facts", "groq.json");
    writeFileSync(file, JSON.stringify({ refreshedAt: "2020-01-01T00:00:00Z", models }));
    expect((await registry().find("groq", known))?.contextWindow).not.toBe(123_456);
    writeFileSync(file, JSON.stringify({ refreshedAt: now.toISOString(), models }));
    expect((await registry().find("groq", known))?.contextWindow).toBe(123_456);
    writeFileSync(file, "{ torn");
    expect((await registry().find("groq", known))?.contextWindow).toBe(131_072);
    expect(readFileSync(file, "utf8")).toBe("{ torn");
  });
});
