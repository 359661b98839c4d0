import { expect, it } from "vitest";
import { runsWhole } from "../../../../scripts/testing/slice.ts";
import { HeapProbe } from "../support/heap-probe.ts";
import { nextLike } from "../support/next-like.ts";
import { startHost } from "../support/start-host.ts";

const SESSIONS = runsWhole ? 60 : 10;
/** Less than one object for each session of a wave. */
const LEFT_OBJECTS = SESSIONS - 1;
/** How many waves are compared with the one before. */
const WAVES = 3;

it("keeps nothing of closed sessions, wave after wave", async () => {
  const heap = new HeapProbe();
  const scenario = [{ repeat: true, content: "Some words of a reply.", chunkSize: 4 }];
  const host = startHost({ scenario, arguments: ["--sessions"] }, { command: heap.command });
  let asked = 0;
  const ask = async (command: object) => {
    asked += 1;
    const id = `q${asked}`;
    host.send({ id, ...command });
    return nextLike(host, { id, type: "response" });
  };
  const closed: string[] = [];
  const wave = async () => {
    const sessions: string[] = [];
    for (let at = 0; at < SESSIONS; at += 1) {
      const { data } = await ask({ type: "open_session" });
      sessions.push((data as { sessionId: string }).sessionId);
    }
    for (const sessionId of sessions) {
      await ask({ type: "prompt", message: "Hello", sessionId });
      await nextLike(host, { type: "agent_settled", sessionId });
    }
    for (const sessionId of sessions) await ask({ type: "close_session", sessionId });
    // The last answer may stay in a buffer, so this one replaces it.
    await ask({ type: "list_sessions" });
    closed.push(...sessions);
    return heap.contents(host.child.pid);
  };
  // The first wave loads and compiles code, and fills caches.
  await wave();
  let last = await wave();
  const growth: number[] = [];
  // Code that is compiled later leaves objects once; what sessions leave grows with every wave.
  while (growth.length < WAVES && !growth.some((objects) => objects <= LEFT_OBJECTS)) {
    const next = await wave();
    growth.push(next.objects - last.objects);
    last = next;
  }
  expect(closed.filter((sessionId) => last.strings.has(sessionId))).toEqual([]);
  expect(Math.min(...growth)).toBeLessThanOrEqual(LEFT_OBJECTS);
});
