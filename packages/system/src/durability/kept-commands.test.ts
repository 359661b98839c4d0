import { type ChildProcess, spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { WorkspaceAdoptOptions, WorkspaceProcess } from "@tau-agent/rpc-protocol/workspace";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { createLocalWorkspace, type LocalWorkspace } from "../workspaces/local/local-workspace.ts";

const session = "s1";
let folder: string;
let children: ChildProcess[];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "tau-kept-"));
  children = [];
});

afterEach(async () => {
  for (const child of children) child.kill("SIGKILL");
  await open().durable?.endCommands({ session, beforeEpoch: 1_000 });
  rmSync(folder, { recursive: true, force: true });
});

function open(): LocalWorkspace {
  return createLocalWorkspace({ cwd: folder, temporaryDirectory: folder });
}

/** A host in another process, which starts a command and then waits to be killed. */
async function hostWith(command: string, keepMs: number): Promise<ChildProcess> {
  const module = fileURLToPath(new URL("../workspaces/local/local-workspace.ts", import.meta.url));
  const options = { command, session, epoch: 1, commandId: "c1", keepMs };
  const source = `
    const { createLocalWorkspace } = await import(${JSON.stringify(module)});
    const workspace = createLocalWorkspace(${JSON.stringify({ cwd: folder, temporaryDirectory: folder })});
    await workspace.spawn({ ...${JSON.stringify(options)}, onOutput: () => {} });
    process.stdout.write("started");
    setInterval(() => {}, 1000);`;
  const child = spawn(process.execPath, [
    "--conditions=@tau-agent/source",
    "--input-type=module",
    "-e",
    source,
  ]);
  children.push(child);
  await new Promise<void>((resolve, reject) => {
    child.stdout?.once("data", () => resolve());
    child.once("exit", () => reject(new Error("the host ended")));
  });
  return child;
}

const endOf = (child: ChildProcess) => new Promise((resolve) => child.once("exit", resolve));

function adopt(
  workspace: LocalWorkspace,
  options: WorkspaceAdoptOptions,
): Promise<WorkspaceProcess> {
  const { durable } = workspace;
  if (durable === undefined) throw new Error("it keeps no commands");
  return durable.adopt(options);
}

async function outputOf(
  start: (onOutput: (bytes: Uint8Array) => void) => Promise<WorkspaceProcess>,
) {
  let text = "";
  const process = await start((bytes) => {
    text += Buffer.from(bytes).toString();
  });
  return { exit: await process.done, text };
}

describe("a kept command", () => {
  it("runs like any other command, and is started only once", async () => {
    const workspace = open();
    const options = { session, epoch: 1, commandId: "c1", keepMs: 60_000 };
    const command = "echo out; echo err >&2; exit 3";
    const { exit, text } = await outputOf((onOutput) =>
      workspace.spawn({ ...options, command, onOutput }),
    );
    expect(exit).toEqual({ exitCode: 3 });
    expect(text).toContain("out\n");
    expect(text).toContain("err\n");
    const again = workspace.spawn({ ...options, command, onOutput: () => {} });
    await expect(again).rejects.toMatchObject({ code: "exists" });
    await workspace.dispose();
  });

  it("continues when its host is killed, and the next host gets all of its output exactly once", async () => {
    const host = await hostWith(
      "echo one; while [ ! -e go ]; do sleep 0.05; done; echo two >> log; echo two",
      60_000,
    );
    host.kill("SIGKILL");
    await endOf(host);
    const next = open();
    const adopted = outputOf((onOutput) =>
      adopt(next, { session, epoch: 2, commandId: "c1", fromOffset: 0, onOutput }),
    );
    await next.write(join(folder, "go"), new Uint8Array());
    expect(await adopted).toEqual({ exit: { exitCode: 0 }, text: "one\ntwo\n" });
    expect(readFileSync(join(folder, "log"), "utf8")).toBe("two\n");
  });

  it("is ended if no host takes it over in time, and cannot be adopted afterwards", async () => {
    const host = await hostWith("sleep 300; touch late", 300);
    host.kill("SIGKILL");
    await endOf(host);
    const path = join(folder, `tau-${process.getuid?.()}`, session, "commands/c1/outcome.json");
    await expect.poll(() => existsSync(path)).toBe(true);
    const adopting = open().durable?.adopt({
      session,
      epoch: 2,
      commandId: "c1",
      fromOffset: 0,
      onOutput: () => {},
    });
    await expect(adopting).rejects.toMatchObject({ code: "not_found" });
  });

  it("is ended by the next host if that does not need it", async () => {
    const host = await hostWith("sleep 300", 60_000);
    host.kill("SIGKILL");
    await endOf(host);
    const next = open();
    expect(await next.durable?.endCommands({ session, beforeEpoch: 2 })).toEqual({ ended: 1 });
    const adopting = next.durable?.adopt({
      session,
      epoch: 2,
      commandId: "c1",
      fromOffset: 0,
      onOutput: () => {},
    });
    await expect(adopting).rejects.toMatchObject({ code: "not_found" });
  });
});

describe("a host whose session another host has taken over", () => {
  it("makes no more changes, and does not end commands that the new host adopted", async () => {
    const old = open();
    const controller = new AbortController();
    const options = { session, epoch: 1, commandId: "c1", keepMs: 60_000, onOutput: () => {} };
    const command = "while [ ! -e go ]; do sleep 0.05; done; echo done";
    const lost = await old.spawn({ ...options, command, signal: controller.signal });
    const next = open();
    let text = "";
    const adopted = await next.durable?.adopt({
      ...{ session, epoch: 2, commandId: "c1", fromOffset: 0 },
      onOutput: (bytes) => {
        text += Buffer.from(bytes).toString();
      },
    });
    const stale = old.write(join(folder, "late"), new Uint8Array(), { session, epoch: 1 });
    await expect(stale).rejects.toMatchObject({ code: "stale_epoch" });
    controller.abort();
    await lost.kill("SIGKILL");
    const started = old.spawn({ ...options, commandId: "c2", command: "touch late" });
    await expect(started).rejects.toMatchObject({ code: "stale_epoch" });
    await next.write(join(folder, "go"), new Uint8Array(), { session, epoch: 2 });
    expect(await adopted?.done).toEqual({ exitCode: 0 });
    expect(text).toBe("done\n");
    expect(existsSync(join(folder, "late"))).toBe(false);
    await old.dispose();
  });

  it("is killed if it was paused in the middle of a change", async () => {
    const module = fileURLToPath(new URL("./epoch-guard.ts", import.meta.url));
    const source = `
      const { EpochGuard } = await import(${JSON.stringify(module)});
      const { writeFileSync } = await import("node:fs");
      await new EpochGuard(${JSON.stringify(folder)}).change({ session: "s1", epoch: 1 }, async () => {
        process.stdout.write("holds");
        await new Promise((resolve) => setTimeout(resolve, 600_000));
        writeFileSync(${JSON.stringify(join(folder, "late"))}, "");
      });`;
    const child = spawn(process.execPath, [
      "--conditions=@tau-agent/source",
      "--input-type=module",
      "-e",
      source,
    ]);
    children.push(child);
    await new Promise((resolve) => child.stdout.once("data", resolve));
    const ended = endOf(child);
    child.kill("SIGSTOP");
    await open().write(join(folder, "new"), new Uint8Array(), { session, epoch: 2 });
    await ended;
    expect(child.signalCode).toBe("SIGKILL");
    expect(existsSync(join(folder, "late"))).toBe(false);
  });
});
