import { execFile } from "node:child_process";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";

/** A user without keys whose vLLM server has one model. */
async function makeUser() {
  const server = createServer((request, response) => {
    if (request.url === "/v1/models") {
      response.end('{"data":[{"id":"q","owned_by":"vllm","max_model_len":40960}]}');
    } else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const origin = `127.0.0.1:${(server.address() as AddressInfo).port}`;
  const settings = JSON.stringify({ localServers: [origin] });
  const models = JSON.stringify({ providers: {} });
  const place = makePlace({
    files: { "agent/settings.json": settings, "agent/models.json": models },
  });
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
    place.remove();
  });
  return { origin, place };
}

it.each([["--list-models"], ["models"]])(
  "tau %s lists its models and does not name a server",
  async (word) => {
    const { place } = await makeUser();
    const { stdout, stderr } = await run(place, word);
    expect(stdout).toMatch(/^vllm +q +41K/m);
    expect(stderr).toBe("");
  },
);

it("tau -p names the server that it uses", async () => {
  const { place, origin } = await makeUser();
  const { stderr } = await run(place, "-p", "hi");
  expect(stderr).toContain(`using q of vLLM at http://${origin}, window 40960 tokens`);
});

function run({ cwd, variables }: ReturnType<typeof makePlace>, ...words: string[]) {
  return new Promise<{ stdout: string; stderr: string }>((resolve) => {
    const options = { cwd, env: variables };
    const child = execFile(process.execPath, [binPath, ...words], options, (_, stdout, stderr) =>
      resolve({ stdout, stderr }),
    );
    child.stdin?.end();
  });
}
