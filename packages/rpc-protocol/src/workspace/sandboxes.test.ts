import { setImmediate as settled } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { framePipe } from "./__fixtures__/frame-pipe.ts";
import { MemoryWorkspace } from "./__fixtures__/memory-workspace.ts";
import type { WorkspaceConnection, WorkspaceSandboxRequest } from "./workspace.ts";
import { WorkspaceServer } from "./workspace-server.ts";

const request: Omit<WorkspaceSandboxRequest, "onConnection"> = {
  ...{ sandboxId: "s-1", cwd: "/work", mode: "workspace", write: ["~/x"], denyRead: ["secret"] },
  ...{ network: "host", whenUnavailable: "refuse", hidden: ["KEY"], certificate: "PEM" },
  variables: { TOKEN: "placeholder" },
};

/** The data that one end of a connection has received. */
function recorder() {
  const got: string[] = [];
  const end: WorkspaceConnection = {
    write: (bytes) => void got.push(Buffer.from(bytes).toString()),
    end: () => void got.push("<end>"),
    close: () => void got.push("<close>"),
  };
  return { got, end };
}

/** A workspace that records the sandbox requests it receives. */
function enclosing() {
  const asked: WorkspaceSandboxRequest[] = [];
  const closed: string[] = [];
  const workspace = Object.assign(new MemoryWorkspace(), {
    sandboxes: {
      open: async (given: WorkspaceSandboxRequest) => {
        asked.push(given);
        const close = async () => void closed.push(given.sandboxId);
        return { available: true, mechanism: "bubblewrap" as const, denied: ["/keys"], close };
      },
    },
  });
  return { asked, closed, workspace };
}

async function until(check: () => boolean): Promise<void> {
  await expect.poll(check).toBe(true);
}

describe("a sandbox behind frames", () => {
  it("is requested with all its settings, and its connections end at the host", async () => {
    const { asked, closed, workspace } = enclosing();
    const { remote } = framePipe(workspace, (bytes) => [bytes.subarray(0, 7), bytes.subarray(7)]);
    const host = recorder();
    const clients: WorkspaceConnection[] = [];
    const sandbox = await remote.sandboxes?.open({
      ...request,
      onConnection: (client) => {
        clients.push(client);
        return host.end;
      },
    });
    expect(sandbox).toMatchObject({ available: true, mechanism: "bubblewrap", denied: ["/keys"] });
    expect(asked).toMatchObject([request]);
    const command = recorder();
    const far = asked[0]?.onConnection(command.end);
    await far?.write(Buffer.from("GET /"));
    far?.end();
    await until(() => host.got.length === 2);
    expect(host.got).toEqual(["GET /", "<end>"]);
    await clients[0]?.write(Buffer.from("200"));
    clients[0]?.end();
    await until(() => command.got.length === 2);
    expect(command.got).toEqual(["200", "<end>"]);
    far?.close();
    await until(() => host.got.includes("<close>"));
    await sandbox?.close();
    expect(closed).toEqual(["s-1"]);
  });

  it("holds back data that the host does not take", async () => {
    const { asked, workspace } = enclosing();
    const { remote } = framePipe(workspace, (bytes) => [bytes]);
    const goOn = Promise.withResolvers<void>();
    const host = { ...recorder().end, write: () => goOn.promise };
    await remote.sandboxes?.open({ ...request, onConnection: () => host });
    const far = asked[0]?.onConnection(recorder().end);
    await far?.write(new Uint8Array(1024 * 1024));
    let isTaken = false;
    const more = Promise.resolve(far?.write(new Uint8Array(1))).then(() => {
      isTaken = true;
    });
    for (let turn = 0; turn < 20; turn += 1) await settled();
    expect(isTaken).toBe(false);
    goOn.resolve();
    await more;
  });

  it("closes open connections when its server is lost or ends", async () => {
    const { asked, closed, workspace } = enclosing();
    const { remote, server } = framePipe(workspace, (bytes) => [bytes]);
    const host = recorder();
    await remote.sandboxes?.open({ ...request, onConnection: () => host.end });
    const far = asked[0]?.onConnection(recorder().end);
    await far?.write(Buffer.from("x"));
    await until(() => host.got.includes("x"));
    await server.end();
    expect(closed).toEqual(["s-1"]);
    remote.lose("it is gone");
    expect(host.got).toEqual(["x", "<close>"]);
  });
});

describe("a server", () => {
  const ask = async (workspace: MemoryWorkspace, frame: object) => {
    const answers: object[] = [];
    new WorkspaceServer(workspace, (answer) => void answers.push(answer)).take(frame);
    await settled();
    return answers;
  };

  it("reports the parts of a sandbox request that it does not understand", async () => {
    const { workspace } = enclosing();
    for (const [name, value] of [
      ["mode", "off"],
      ["mode", undefined],
      ["network", "example.com"],
      ["sandboxId", "../x"],
      ["cwd", undefined],
      ["denyRead", "x"],
      ["variables", { A: 1 }],
      ["whenUnavailable", "maybe"],
    ] as const) {
      const params = { ...request, [name]: value };
      const [answer] = await ask(workspace, { id: 1, method: "open_sandbox", params });
      expect(answer).toMatchObject({ id: 1, error: { code: "failed" } });
      expect(JSON.stringify(answer)).toContain(`\\"${name}\\"`);
    }
    const params = { path: "/a", sandbox: "s-1" };
    const [answer] = await ask(workspace, { id: 1, method: "read", params });
    expect(JSON.stringify(answer)).toContain('\\"sandbox\\"');
  });

  it("refuses sandboxes if its workspace has none, and ignores closed connections", async () => {
    const plain = new MemoryWorkspace();
    expect(await ask(plain, { id: 1, method: "open_sandbox", params: request })).toMatchObject([
      { error: { code: "unsupported" } },
    ]);
    const params = { connectionId: 3, data: "" };
    expect(await ask(plain, { id: 1, method: "write_connection", params })).toMatchObject([
      { error: { code: "not_found" } },
    ]);
  });
});
