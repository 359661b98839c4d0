// Sessions on disk: node docs/examples/saved-sessions.ts
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createStream } from "@tau-agent/ai";
import { scriptedModel, scriptedProvider, turn } from "@tau-agent/ai/testing";
import {
  createAgentSession,
  deleteSession,
  exportSession,
  listSessions,
} from "@tau-agent/coding-agent";

const replies = ["A fine name.", "It is Tau.", "Another branch."];
const provider = scriptedProvider(replies.map((reply) => turn(reply)));
const folder = mkdtempSync(join(tmpdir(), "tau-saved-"));
const options = {
  cwd: folder,
  // Outside ~/.pi/agent, to keep your application's sessions apart from the user's own.
  agentDirectory: join(folder, "agent"),
  model: scriptedModel(),
  stream: createStream({ providers: { scripted: async () => provider } }),
  apiKey: "none",
};

const first = await createAgentSession(options);
await first.prompt("Call it Tau");
first.setName("Naming");
await first.dispose();

const [saved] = await listSessions(options);
console.log(`${saved?.name}: ${saved?.messageCount} messages, "${saved?.firstMessage}"`);

// Continue the conversation: `latest`, or by path or id.
const again = await createAgentSession({ ...options, session: { kind: "latest" } });
await again.prompt("What is it called?");
console.log(again.lastAssistantText);

// Back to before the second prompt, in a new file; the old file stays unchanged.
const { path: original } = again.log;
const [, second] = again.navigation.forkMessages();
if (second !== undefined) await again.navigation.fork(second.entryId);
await again.prompt("Think of something else");
console.log(`${again.messages.length} messages in the fork: ${again.lastAssistantText}`);

const page = await exportSession(again, join(folder, "page.html"));
console.log(`Exported ${page.endsWith("page.html") ? "one page" : page}`);
await again.dispose();
if (original !== undefined) await deleteSession(original);
console.log(`${(await listSessions(options)).length} session left`);
rmSync(folder, { recursive: true });
