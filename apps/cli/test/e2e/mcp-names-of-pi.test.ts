import { execFile } from "node:child_process";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import { execPath } from "node:process";
import { fileURLToPath } from "node:url";
import { startLoopbackServer } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { makeEditorPlace } from "../support/acp-editor.ts";
import { binPath } from "../support/start-host.ts";

const server = fileURLToPath(
  new URL("../../../../packages/mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
);

/** The installed newest release of pi. */
function piProgram(): string {
  const entry = fileURLToPath(import.meta.resolve("@earendil-works/pi-coding-agent"));
  const root = dirname(dirname(entry));
  const manifest = createRequire(import.meta.url)(join(root, "package.json"));
  return join(root, manifest.bin.pi);
}

const entryWith = (names: readonly string[], more: object = {}) => {
  const tools = names.map((name) => ({ name, inputSchema: { type: "object", properties: {} } }));
  const args = [server, JSON.stringify({ tools })];
  return { command: execPath, args, exposure: "direct", ...more };
};

/** Names that have to be changed, that collide after the change, or that are too long. */
const mcpServers = {
  plain: entryWith(["echo", "get-thing", "get.thing", "get_thing", "camelCase", "9lives"]),
  "my-server": entryWith(["x", "ünï/cødé", "with space", "a".repeat(60), `${"a".repeat(60)}b`]),
  a_b: entryWith(["c", "b__c"]),
  a: entryWith(["b__c", "b_c"]),
  ["z".repeat(50)]: entryWith(["tool", "a-tool-with-a-long-name"]),
  some: entryWith(["seen", "hidden_one", "other"], { toolExposure: { "hidden_*": "hidden" } }),
  none: entryWith(["unseen"], { exposure: "hidden" }),
};

it("a mcp.json of pi produces the same tool names as in pi", async () => {
  const requested = async (program: string): Promise<string[]> => {
    await using vendor = await startLoopbackServer({ scenario: ["done"] });
    const model = {
      id: "one",
      name: "One",
      reasoning: false,
      input: ["text"],
      contextWindow: 200_000,
      maxTokens: 1000,
      cost: { input: 0, output: 0, cacheRead: 0, cacheWrite: 0 },
    };
    const vendorOf = {
      baseUrl: vendor.urls["openai-completions"],
      api: "openai-completions",
      apiKey: "none",
      models: [model],
    };
    const place = makeEditorPlace({
      files: {
        "agent/models.json": JSON.stringify({ providers: { vendor: vendorOf } }),
        "agent/mcp.json": JSON.stringify({ mcpServers }),
      },
    });
    const words = ["-p", "--no-session", "--provider", "vendor", "--model", "one", "hello"];
    const { cwd, variables: env } = place;
    const error = await new Promise((resolve) => {
      const child = execFile(execPath, [program, ...words], { cwd, env }, (failure, _, stderr) =>
        resolve(failure === null ? undefined : stderr),
      );
      child.stdin?.end();
    });
    expect(error).toBeUndefined();
    const { tools } = Object(vendor.requests[0]).body as {
      tools: { function: { name: string } }[];
    };
    return tools.map((tool) => tool.function.name).filter((name) => name.startsWith("mcp__"));
  };
  const ofPi = await requested(piProgram());
  expect(ofPi.length).toBeGreaterThan(15);
  expect((await requested(binPath)).toSorted()).toEqual(ofPi.toSorted());
});
