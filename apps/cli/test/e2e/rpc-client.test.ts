import { join } from "node:path";
import { RpcClient } from "@tau-agent/rpc-client";
import { protocolNames } from "@tau-agent/rpc-protocol";
import { expect, it, onTestFinished } from "vitest";
import { makePlace } from "../support/place.ts";
import { binPath } from "../support/start-host.ts";

const scenario = join(import.meta.dirname, "../../../../docs/examples/scenarios/hello.json");

it.each(protocolNames)("our client works where the environment says %s", async (protocol) => {
  const place = makePlace();
  const args = ["--no-session", "--provider", "scripted", "--model", scenario];
  const env = { ...place.variables, PI_RPC_PROTOCOL: protocol };
  const client = new RpcClient({ cliPath: binPath, cwd: place.cwd, env, args });
  onTestFinished(async () => {
    await client.stop();
    place.remove();
  });
  await client.start();
  expect(client.host?.protocol).toBe("pi");
  const { status, text } = await client.promptAndWait("Look", { timeoutMs: 20_000 });
  expect(status).toBe("completed");
  expect(text).toContain("The first thing here is");
  await client.waitForIdle(5_000);
});
