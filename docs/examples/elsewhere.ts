// Keys and conversation here, tools elsewhere, in three ways:
// node docs/examples/elsewhere.ts /srv/app ssh -T box
import { execFileSync } from "node:child_process";
import { createAgentSession } from "@tau-agent/coding-agent";
import { RpcClient } from "@tau-agent/rpc-client";

// Without words, a shell of this machine stands in for another one.
const [cwd = process.cwd(), ...words] = process.argv.slice(2);
const workspace = { shell: words.length > 0 ? words : ["sh", "-c"], cwd };
const question = "What is in this folder?";
// For a real model, leave the provider out and use `environment: process.env`.
const provider = "scripted";

// In your own process.
const session = await createAgentSession({ workspace, provider, session: { kind: "memory" } });
console.log("library:", (await session.prompt(question)).text);
await session.dispose();

// A host as a child process.
const args = ["--workspace", JSON.stringify(workspace), "--provider", provider, "--no-session"];
const client = new RpcClient({ args });
await client.start();
console.log("client:", (await client.promptAndWait(question)).text);
await client.stop();

// On the command line.
console.log(
  "command:",
  execFileSync("tau", ["-p", ...args, question], { encoding: "utf8" }).trim(),
);
