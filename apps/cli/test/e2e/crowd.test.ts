import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { runsWhole } from "../../../../scripts/testing/slice.ts";
import { FrameClient } from "../support/frame-client.ts";
import { HeapProbe } from "../support/heap-probe.ts";
import { listeningHost } from "../support/listening-host.ts";
import type { Frame } from "../support/test-client.ts";

/** The number of sessions and clients; before a release, run with `TAU_CROWD=200x20`. */
const [sessionCount = 12, clientCount = 5] = (
  process.env.TAU_CROWD ?? (runsWhole ? "60x10" : "12x5")
)
  .split("x")
  .map(Number);
const STEPS = sessionCount * 6;
const MIB = 2 ** 20;
/** Memory that all sessions together may leave behind: compiled code and socket buffers. */
const LEFT_MIB = 6;

/** Returns the same numbers each time. */
function randomNumbers(seed: number) {
  let last = seed;
  return (below: number) => {
    last = (last * 48_271) % 2_147_483_647;
    return last % below;
  };
}

it("keeps sessions apart, whatever their clients do, and ends every prompt once", async () => {
  const random = randomNumbers(20_260_101);
  const heap = new HeapProbe();
  const { unixUrl, place, host } = await listeningHost(
    {
      scenario: [
        { repeat: true, content: "Some words of a reply.", chunkSize: 4, delayMs: 2 },
      ] as never,
    },
    { command: heap.command },
  );
  const opener = await FrameClient.connect(unixUrl);
  await warmUp(opener, place.cwd);
  const before = await heap.read(host.child.pid);
  const sessions: string[] = [];
  for (let at = 0; at < sessionCount; at += 1) {
    const cwd = join(place.folder, `project-${at}`);
    mkdirSync(cwd);
    sessions.push(await opener.open({ cwd }));
  }
  // Attached to every session from the start, so it receives all events.
  const clients: { client: FrameClient; attached: Set<string> }[] = [];
  const arrive = async () => {
    const client = await FrameClient.connect(unixUrl);
    return { client, attached: new Set<string>() };
  };
  for (let at = 0; at < clientCount; at += 1) clients.push(await arrive());
  const accepted = new Map<string, string>();
  const strays: Frame[] = [];
  const leave = async (at: number) => {
    const left = clients[at];
    if (left === undefined) return;
    strays.push(...strayFrames(left));
    left.client.close();
    clients[at] = await arrive();
  };
  for (let step = 0; step < STEPS; step += 1) {
    const at = random(clientCount);
    const one = clients[at];
    const sessionId = sessions[random(sessionCount)] ?? "";
    if (one === undefined) continue;
    const what = random(10);
    if (what < 5) {
      const promptId = `p${step}`;
      const command = { type: "prompt", message: `for ${sessionId}`, promptId, sessionId };
      const answer = await one.client.ask({ ...command, streamingBehavior: "followUp" });
      expect(answer).toMatchObject({ success: true, sessionId });
      accepted.set(promptId, sessionId);
    } else if (what < 7) {
      one.attached.add(sessionId);
      await one.client.ask({ type: "attach", sessionId });
    } else if (what < 9) {
      one.client.send({ type: "abort", sessionId });
    } else {
      await leave(at);
    }
  }
  await expect
    .poll(async () => {
      const { data } = await opener.ask({ type: "list_sessions" });
      const { sessions: all } = data as { sessions: { status: string }[] };
      return all.every(({ status }) => status === "idle");
    })
    .toBe(true);
  for (const one of clients) strays.push(...strayFrames(one));
  expect(strays).toEqual([]);
  const ends = opener.frames.filter(({ type }) => type === "prompt_result");
  const ended = ends.map(({ promptId, sessionId }) => [promptId, sessionId]);
  expect(ended.toSorted()).toEqual([...accepted].toSorted());
  // Each user message must be in the session it was sent to.
  const asked = opener.frames.filter(
    ({ type, message }) => type === "message_end" && (message as { role: string }).role === "user",
  );
  for (const { message, sessionId } of asked) {
    expect(JSON.stringify(message)).toContain(`for ${sessionId}`);
  }
  for (const { client } of clients) client.close();
  for (const sessionId of sessions) await opener.ask({ type: "close_session", sessionId });
  const after = await heap.read(host.child.pid);
  expect((after - before) / MIB).toBeLessThan(LEFT_MIB);
});

/** Loads everything that the first session needs. */
async function warmUp(client: FrameClient, cwd: string): Promise<void> {
  const sessionId = await client.open({ cwd });
  await client.ask({ type: "prompt", message: `for ${sessionId}`, promptId: "warm", sessionId });
  await client.until(({ type }) => type === "prompt_result");
  await client.ask({ type: "close_session", sessionId });
  client.frames.length = 0;
}

/** Events of sessions to which the client is not attached. */
function strayFrames({ client, attached }: { client: FrameClient; attached: Set<string> }) {
  return client.frames.filter(
    ({ type, sessionId }) => type !== "response" && !attached.has(String(sessionId)),
  );
}
