import { describe, expect, it } from "vitest";
import { MemoryWorkspace } from "./__fixtures__/memory-workspace.ts";
import {
  ClientWorkspace,
  ClientWorkspaceServer,
  type FromWorkspaceClient,
  type ToWorkspaceClient,
} from "./client-workspace.ts";

function pair() {
  const memory = new MemoryWorkspace();
  const frames: (ToWorkspaceClient | FromWorkspaceClient)[] = [];
  const host: ClientWorkspace = new ClientWorkspace({
    id: "ws-1",
    cwd: "/work",
    idPrefix: "w1-",
    send: (frame) => {
      frames.push(frame);
      setImmediate(() => client.take(frame));
    },
  });
  const client = new ClientWorkspaceServer(memory, (frame) => {
    frames.push(frame);
    expect(host.isMeant(frame)).toBe(true);
    setImmediate(() => void host.takeAnswer(frame));
  });
  return { memory, frames, host, client };
}

describe("a client's workspace", () => {
  it("is used with the frames of the document", async () => {
    const { frames, host } = pair();
    await host.write("/work/a", Buffer.from("hi"));
    await expect(host.read("/work/none")).rejects.toMatchObject({ code: "not_found" });
    const process = await host.spawn({ command: "echo out", onOutput: () => {} });
    expect(await process.done).toEqual({ exitCode: 0 });
    const call = (id: number, method: string, params: object) => ({
      type: "workspace_call",
      id: `w1-${id}`,
      workspaceId: "ws-1",
      method,
      params,
    });
    expect(frames.slice(0, 2)).toEqual([
      call(1, "write", { path: "/work/a", data: "aGk=" }),
      { type: "workspace_result", id: "w1-1", result: {} },
    ]);
    expect(frames.at(-4)).toEqual(call(4, "spawn", { command: "echo out", cwd: "/work" }));
    expect(frames.slice(-3)).toEqual([
      { type: "workspace_result", id: "w1-4", result: { processId: 1, pid: 7 } },
      { type: "workspace_output", id: "w1-4", event: "output", stream: "stdout", data: "b3V0" },
      { type: "workspace_output", id: "w1-4", event: "exit", exitCode: 0 },
    ]);
    await host.dispose();
  });

  it("cancels a call, and ends its commands with the connection", async () => {
    const { frames, host, client, memory } = pair();
    const controller = new AbortController();
    const { signal } = controller;
    const first = await host.spawn({ command: "wait", onOutput: () => {}, signal });
    controller.abort();
    expect(await first.done).toMatchObject({ exitCode: null });
    expect(frames.at(-2)).toEqual({
      type: "workspace_cancel",
      id: "w1-cancel1",
      targetId: "w1-1",
    });
    const second = await host.spawn({ command: "wait", onOutput: () => {} });
    host.lose("the client left");
    await client.restart();
    await expect(second.done).rejects.toMatchObject({ code: "lost" });
    expect(memory.running).toBe(0);
  });
});
