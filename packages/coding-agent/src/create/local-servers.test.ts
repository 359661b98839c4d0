import { mkdirSync, writeFileSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";
import { createAgentSession } from "./create-agent-session.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

/** A session on a machine with a vLLM server, and how often that was asked. */
async function sessionWith(options: Partial<CreateAgentSessionOptions>) {
  let asked = 0;
  const server = createServer((request, response) => {
    if (request.url !== "/v1/models") {
      response.writeHead(404).end();
      return;
    }
    asked += 1;
    response.end('{"data":[{"id":"q","owned_by":"vllm","max_model_len":40960}]}');
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  const places = placesIn(temporaryFolder());
  const directory = String(places.agentDirectory);
  mkdirSync(directory, { recursive: true });
  const { port } = server.address() as AddressInfo;
  const localServers = [`127.0.0.1:${port}`];
  writeFileSync(join(directory, "settings.json"), JSON.stringify({ localServers }));
  const session = await createAgentSession({ ...places, ...options });
  onTestFinished(() => session.dispose());
  const { models, diagnostics } = session;
  const named = diagnostics.filter(({ code }) => code === "local_server");
  return { model: models.model, named: named.map(({ message }) => message), asked, port };
}

const key = { environment: { ANTHROPIC_API_KEY: "k" } };

it("takes a local server when there is no model with a key, and says so", async () => {
  const { model, named, port } = await sessionWith({ findLocalServers: true });
  expect(model).toMatchObject({ provider: "vllm", id: "q", contextWindow: 40_960 });
  expect(named).toEqual([
    `No model with a key is named: using q of vLLM at http://127.0.0.1:${port}, window 40960 tokens`,
  ]);
});

it("asks no local server when there is a key, or when the program did not allow it", async () => {
  const keyed = await sessionWith({ ...key, findLocalServers: true });
  expect(keyed).toMatchObject({ model: { provider: "anthropic" }, named: [], asked: 0 });
  expect(await sessionWith({})).toMatchObject({ model: undefined, named: [], asked: 0 });
});

it("asks the local servers for one that is named", async () => {
  const found = await sessionWith({ ...key, findLocalServers: true, model: "vllm/q" });
  expect(found).toMatchObject({ model: { provider: "vllm", id: "q" }, named: [], asked: 1 });
});

it("asks them beside models with a key where all are to be listed", async () => {
  const found = await sessionWith({ ...key, findLocalServers: "always" });
  expect(found).toMatchObject({ model: { provider: "anthropic" }, named: [], asked: 1 });
});
