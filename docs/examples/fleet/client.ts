// Gives a prompt to a fleet, shows its events, allows what it asks for, and steers it:
// node docs/examples/fleet/client.ts redis://127.0.0.1:6379 prompts "Fix the failing test"
import { randomUUID } from "node:crypto";
import { Queue, QueueEvents } from "bullmq";
import { Redis } from "ioredis";

const [url = "redis://127.0.0.1:6379", name = "prompts", message = "Hello"] = process.argv.slice(2);
const sessionId = randomUUID();
const redis = new Redis(url, { maxRetriesPerRequest: null });
const queue = new Queue(name, { connection: redis });
const listening = redis.duplicate();
const ends = new QueueEvents(name, { connection: listening });

/** Sends a command, or an answer, to the worker that has the session. */
function control(command: object): Promise<unknown> {
  return redis.xadd(`tau:control:${sessionId}`, "*", "command", JSON.stringify(command));
}

/** Follows the events of the session, over however many workers, until the prompt has its result. */
async function follow(promptId: string): Promise<void> {
  const reader = redis.duplicate();
  for (let after = "0"; ; ) {
    const key = `tau:events:${sessionId}`;
    const found = await reader.xread("BLOCK", 0, "STREAMS", key, after);
    for (const [id, [, text = "{}"]] of found?.[0]?.[1] ?? []) {
      after = id;
      const frame = JSON.parse(text);
      if (frame.type === "tool_execution_start") console.log(`runs ${frame.toolName}`);
      if (frame.assistantMessageEvent?.type === "text_delta") {
        process.stdout.write(frame.assistantMessageEvent.delta);
      }
      if (frame.type === "host_request" && frame.method === "tool_approval") {
        console.log(`allows ${frame.params.title}`);
        await control({ type: "host_response", id: frame.id, result: { decision: "allow" } });
        await control({ type: "steer", message: "Keep it short." });
      }
      if (frame.type !== "prompt_result" || frame.promptId !== promptId) continue;
      reader.disconnect();
      return;
    }
  }
}

// The id of the job is the id of the prompt: a job that is added twice runs once.
const promptId = randomUUID();
const job = await queue.add("prompt", { sessionId, message }, { jobId: promptId });
const [result] = await Promise.all([job.waitUntilFinished(ends), follow(promptId)]);
console.log(`\n${result.status}: ${result.text}`);
await ends.close();
await queue.close();
listening.disconnect();
redis.disconnect();
