import { loopbackApis, startLoopbackServer } from "@tau-agent/ai/testing";
import { expect, it, onTestFinished } from "vitest";
import { slice } from "../../../../scripts/testing/slice.ts";
import { startHost } from "../support/start-host.ts";

/** Reports at exit whether Node's own `fetch` was loaded. */
const report = `data:text/javascript,${encodeURIComponent(`
  process.on("exit", () => {
    const loaded = process.moduleLoadList.filter((name) => name.includes("deps/undici"));
    process.stderr.write("of fetch: " + loaded.length + "\\n");
  });
`)}`;

it.each(slice(loopbackApis, 3))("a prompt over %s does not load Node's fetch", async (api) => {
  const server = await startLoopbackServer({ scenario: () => ({ content: "Hello." }) });
  onTestFinished(() => server.close());
  const models = [{ id: "scripted", contextWindow: 100_000 }];
  const providers = { loopback: { baseUrl: server.urls[api], api, apiKey: "none", models } };
  const host = startHost(
    {
      files: { "agent/models.json": JSON.stringify({ providers }) },
      arguments: ["--provider", "loopback", "--model", "scripted"],
    },
    { command: [process.execPath, "--import", report] },
  );
  host.send({ type: "prompt", message: "go" });
  await host.until({ "...": true, type: "agent_settled" });
  expect(server.requests).toHaveLength(1);
  await host.finish();
  expect(host.stdout).toContain("Hello.");
  expect(host.stderr).toContain("of fetch: 0");
});
