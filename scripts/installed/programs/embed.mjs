// A program that embeds the library.
import { createAgentSession } from "@tau-agent/coding-agent";

const session = await createAgentSession({
  cwd: process.cwd(),
  session: { kind: "memory" },
  provider: "scripted",
});
const { status } = await session.prompt("What is in this folder?");
await session.dispose();
console.log(status, process.versions.node);
