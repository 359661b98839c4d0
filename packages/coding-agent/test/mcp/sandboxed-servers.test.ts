import { once } from "node:events";
import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { SessionSandbox } from "@tau-agent/system";
import { expect, it, onTestFinished, vi } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { bubblewrapIsMissing } from "../../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { fixtureTools, workspaceForEach } from "./mcp-session.ts";

const workspace = workspaceForEach();

/** Simulates another program's socket that closes while the first sandbox is set up. */
async function closeDuringStart(): Promise<void> {
  const folder = mkdtempSync("/var/tmp/tau-socket-");
  onTestFinished(() => rmSync(folder, { recursive: true }));
  const socket = createServer().listen(join(folder, "other.sock"));
  await once(socket, "listening");
  const { enclose } = SessionSandbox.prototype;
  const spy = vi.spyOn(SessionSandbox.prototype, "enclose").mockImplementation(async function (
    this: SessionSandbox,
    command,
  ) {
    const enclosed = await enclose.call(this, command);
    if (socket.listening) await new Promise((resolve) => socket.close(resolve));
    return enclosed;
  });
  onTestFinished(() => spy.mockRestore());
}

describeWith(bubblewrapIsMissing)("a server in the sandbox", () => {
  it("starts although a socket in the sandbox's plan has gone, and counts no restart", async () => {
    await closeDuringStart();
    const { cwd } = workspace();
    // The sandbox shows the project; it may hide the folder that contains the repository.
    const program = join(cwd, "server.ts");
    copyFileSync(
      new URL("../../../mcp/src/__fixtures__/stdio-server.ts", import.meta.url),
      program,
    );
    const args = [program, JSON.stringify({ tools: fixtureTools("work") })];
    await workspace().configure({ one: { command: process.execPath, args } });
    const session = await workspace().openReady({ sandbox: { mode: "workspace" } });
    const { servers } = await session.mcp.list();
    expect(servers).toMatchObject([{ name: "one", status: "connected", restarts: 0 }]);
  });
});
