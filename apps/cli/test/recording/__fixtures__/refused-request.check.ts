import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import { it } from "vitest";

/** Prints its address once it listens. */
const program = `
  import { startLoopbackServer } from "@tau-agent/ai/testing";
  const { url } = await startLoopbackServer({ scenario: { turns: [] } });
  console.log(url);
`;

async function startServer(): Promise<{ server: ChildProcess; url: string }> {
  const words = ["--conditions=@tau-agent/source", "--input-type=module", "-e", program];
  const cwd = fileURLToPath(new URL("../../..", import.meta.url));
  const server = spawn(process.execPath, words, { cwd, stdio: ["ignore", "pipe", "inherit"] });
  const [url] = await once(server.stdout.setEncoding("utf8"), "data");
  return { server, url: String(url).trim() };
}

async function ask(url: string): Promise<void> {
  const headers = { "x-api-key": "k", "anthropic-version": "2023-06-01" };
  const body = JSON.stringify({ model: "m", max_tokens: 0, messages: [] });
  await (await fetch(`${url}/v1/messages`, { method: "POST", headers, body })).text();
}

let early: { server: ChildProcess; url: string } | undefined;

it("asks a server in another process for what no vendor takes", async () => {
  const { server, url } = await startServer();
  await ask(url);
  server.kill();
});

it("leaves a server behind", async () => {
  early = await startServer();
});

it("asks the server of another test", async () => {
  await ask(early?.url ?? "");
  early?.server.kill();
});
