import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { describe, expect, it } from "vitest";
import { ConnectionClosedError } from "../base/errors.ts";
import { EventHub } from "../events/event-hub.ts";
import { initializeParams } from "./initialize-host.ts";
import { SessionChannel } from "./session-channel.ts";

/** A workspace with one file, in which a command runs until it is ended. */
function place(): { workspace: Workspace; ended: string[] } {
  const ended: string[] = [];
  const unsupported = async () => {
    throw new WorkspaceError("unsupported");
  };
  const workspace: Workspace = {
    id: "mine",
    cwd: "/",
    describe: unsupported,
    stat: unsupported,
    list: unsupported,
    read: async () => Buffer.from("mine"),
    write: unsupported,
    remove: unsupported,
    rename: unsupported,
    createDirectory: unsupported,
    spawn: async ({ signal }) => {
      const { promise, resolve } = Promise.withResolvers<{ exitCode: null }>();
      signal?.addEventListener("abort", () => {
        ended.push("command");
        resolve({ exitCode: null });
      });
      return { write: unsupported, endInput: unsupported, kill: unsupported, done: promise };
    },
  };
  return { workspace, ended };
}

describe("a client with a workspace", () => {
  it("declares it to the host", () => {
    const { workspace } = place();
    expect(initializeParams({ workspace }).capabilities).toMatchObject({ workspace: true });
    expect(initializeParams({}).capabilities).not.toHaveProperty("workspace");
  });

  it("serves it, and ends its commands with the connection", async () => {
    const { workspace, ended } = place();
    const sent: unknown[] = [];
    const channel = new SessionChannel({
      write: (line) => void sent.push(JSON.parse(line)),
      hub: new EventHub(),
      handlers: { workspace },
      note: () => {},
    });
    const call = (id: string, method: string, params: object) =>
      channel.connection.receiveFrame({
        type: "workspace_call",
        id,
        workspaceId: "ws-1",
        method,
        params,
      });
    call("a", "read", { path: "/file" });
    call("b", "list", { path: "/" });
    call("c", "spawn", { command: "sleep 1000" });
    await expect.poll(() => sent).toHaveLength(3);
    expect(sent).toContainEqual({
      type: "workspace_result",
      id: "a",
      result: { data: "bWluZQ==" },
    });
    const error = { code: "unsupported", message: "The workspace cannot do this" };
    expect(sent).toContainEqual({ type: "workspace_result", id: "b", error });
    channel.interrupt(new ConnectionClosedError("lost"));
    await expect.poll(() => ended).toEqual(["command"]);
    call("c", "spawn", { command: "sleep 1000" });
    await expect.poll(() => sent).toHaveLength(4);
    channel.close(new ConnectionClosedError("over"));
    await expect.poll(() => ended).toHaveLength(2);
    expect(sent).toHaveLength(4);
  });
});
