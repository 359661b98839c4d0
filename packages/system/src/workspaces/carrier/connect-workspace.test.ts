import { execPath } from "node:process";
import { isWorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import { describe, expect, it } from "vitest";
import type { CarrierOptions } from "../common/carrier-options.ts";
import { connectWorkspace } from "./connect-workspace.ts";

const ready = (more: object = {}) =>
  JSON.stringify({
    type: "ready",
    protocolVersion: 1,
    platform: "linux",
    homeDirectory: "/root",
    temporaryDirectory: "/tmp",
    shell: "/bin/sh",
    pid: 1,
    cwd: "/",
    capabilities: { search: false, sandbox: false, durable: false },
    ...more,
  });

/** A server whose `stat` reports the value of an expression as the size. */
const server = (size: string, before = "", first = ready()) => `
  ${before};
  console.log(${JSON.stringify(first)});
  require("node:readline").createInterface(process.stdin).on("line", (line) => {
    const { id, method } = JSON.parse(line);
    if (method === "list") process.kill(process.pid, "SIGKILL");
    if (method === "read") return process.stdout.write('{"id":' + id, () => process.kill(process.pid, "SIGKILL"));
    console.log(JSON.stringify({ id, result: { kind: "file", size: ${size} } }));
  });
`;

const connect = (script: string, options: CarrierOptions = {}) =>
  connectWorkspace({ command: [execPath, "-e", script], cwd: "/" }, options);

async function failureOf(script: string, options?: CarrierOptions): Promise<string> {
  const error: unknown = await connect(script, options).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "workspace_unreachable" });
  return (error as Error).message;
}

describe("connectWorkspace", () => {
  it("drops up to 64 KiB of noise before the server is ready", async () => {
    const noise = `console.log("Welcome!\\n" + "x".repeat(60_000)); console.log('{"type":"other"}')`;
    const workspace = await connect(server("7", noise));
    expect(await workspace.stat("/a")).toMatchObject({ size: 7 });
    expect(workspace.search).toBeUndefined();
    await workspace.dispose();
    expect(await workspace.stat("/a").catch((error) => error.code)).toBe("lost");
  });

  it("reports the output of a program that cannot serve", async () => {
    // Not a loop: that would never write output that the pipe does not take immediately.
    const flood = `setInterval(() => console.log("garbage".repeat(1000)), 1)`;
    expect(await failureOf(flood)).toContain("it printed more than 64 KiB");
    const late = `console.log("x".repeat(66_000))`;
    expect(await failureOf(server("1", late))).toContain("it printed more than 64 KiB");
    expect(await failureOf(`console.error("tau: \\x1b[31mcommand not found\\n")`)).toMatch(
      /it ended with exit code 0; it said: tau: command not found$/,
    );
    expect(await failureOf(`console.log("no banner"); process.exit(3)`)).toMatch(
      /it ended with exit code 3; it said: no banner$/,
    );
    expect(await failureOf(server("1", "", ready({ protocolVersion: 2 })))).toContain(
      "it speaks version 2 of the protocol, not 1",
    );
    expect(await failureOf("setInterval(() => {}, 1000)", { connectMs: 200 })).toContain(
      "it was not ready after 0.2 s",
    );
    const spec = { command: ["/none/such", "x"], cwd: "/" };
    await expect(connectWorkspace(spec)).rejects.toThrow("/none/such");
    await expect(connectWorkspace(spec)).rejects.toMatchObject({ code: "workspace_unreachable" });
  });

  it("starts the program without keys and without the address of the store", async () => {
    const names = ["OPENAI_API_KEY", "OTHER_KEY", "TAU_STORE", "KEPT"];
    const environment = {
      PATH: process.env.PATH,
      ...Object.fromEntries(names.map((n) => [n, "1"])),
    };
    const count = `${JSON.stringify(names)}.filter((name) => name in process.env).length`;
    const workspace = await connect(server(count), {
      environment,
      keyVariables: ["OPENAI_API_KEY", "OTHER_KEY"],
    });
    expect(await workspace.stat("/a")).toMatchObject({ size: 1 });
    await workspace.dispose();
  });

  it("ends running commands as lost, and reconnects", async () => {
    const statuses: string[] = [];
    const workspace = await connect(server("process.pid"), {
      onStatus: (status, reason) => void statuses.push(`${status} ${reason ?? ""}`),
    });
    const pids = new Set([(await workspace.stat("/a"))?.size]);
    for (const end of [() => workspace.list("/a"), () => workspace.read("/a", { length: 1 })]) {
      const error: unknown = await end().catch((thrown: unknown) => thrown);
      expect(isWorkspaceError(error, "lost")).toBe(true);
      expect(String(error)).toContain("workspace lost: it ended with signal SIGKILL");
      expect(workspace.status).toBe("lost");
      pids.add((await workspace.stat("/a"))?.size);
      expect(workspace.status).toBe("connected");
    }
    expect(pids.size).toBe(3);
    const lost = "lost it ended with signal SIGKILL";
    expect(statuses).toEqual([lost, "connected ", lost, "connected "]);
    await workspace.dispose();
  });

  it("gives up reconnecting after its time limit, and then tries once per call", async () => {
    const flag = `/tmp/tau-carrier-${process.pid}`;
    const once = `const fs = require("node:fs"); if (fs.existsSync("${flag}")) { console.error("no more"); process.exit(1); } fs.writeFileSync("${flag}", "")`;
    const { rmSync } = process.getBuiltinModule("node:fs");
    rmSync(flag, { force: true });
    try {
      const workspace = await connect(server("1", once), { reconnectMs: 400 });
      await workspace.list("/a").catch(() => {});
      const started = performance.now();
      const refused = workspace.stat("/a");
      await expect(refused).rejects.toThrow(/^workspace lost: .*it said: no more$/);
      expect(performance.now() - started).toBeGreaterThan(250);
      await expect(workspace.stat("/a")).rejects.toMatchObject({ code: "lost" });
      rmSync(flag, { force: true });
      expect(await workspace.stat("/a")).toMatchObject({ size: 1 });
      await workspace.dispose();
    } finally {
      rmSync(flag, { force: true });
    }
  });

  it("stops waiting on abort, and when it is disposed of", async () => {
    const once = `const fs = require("node:fs"); if (process.ppid && fs.existsSync("/tmp/tau-once-${process.pid}")) for (;;); fs.writeFileSync("/tmp/tau-once-${process.pid}", "")`;
    const { rmSync } = process.getBuiltinModule("node:fs");
    try {
      const workspace = await connect(server("1", once));
      await workspace.list("/a").catch(() => {});
      const controller = new AbortController();
      const aborted = workspace.stat("/a", { signal: controller.signal });
      controller.abort();
      await expect(aborted).rejects.toMatchObject({ code: "aborted" });
      const waiting = workspace.stat("/a");
      waiting.catch(() => {});
      await workspace.dispose();
      await expect(waiting).rejects.toMatchObject({ code: "lost" });
    } finally {
      rmSync(`/tmp/tau-once-${process.pid}`, { force: true });
    }
  });
});
