import { EventEmitter, once } from "node:events";
import { chmodSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, onTestFinished, test } from "vitest";
import { connectWorkspace } from "../carrier/connect-workspace.ts";

/** A program that runs a script with the argument of the shell form. */
function carrier(script: string): { readonly folder: string; readonly shell: readonly string[] } {
  const folder = mkdtempSync(join(tmpdir(), "tau-shell-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "carrier");
  writeFileSync(path, `#!/bin/sh\ncd ${folder}\n${script}\n`);
  chmodSync(path, 0o755);
  return { folder, shell: [path] };
}

const unreachable = (script: string, options = {}) => {
  const { shell } = carrier(script);
  return connectWorkspace({ shell, cwd: "/tmp" }, options);
};

test("a carrier that ends is unreachable, with its last line", async () => {
  const failed = unreachable('echo "Welcome"; echo "Permission denied (publickey)." >&2; exit 255');
  await expect(failed).rejects.toMatchObject({ code: "workspace_unreachable" });
  await expect(failed).rejects.toThrow("Permission denied (publickey)");
});

test("a program that is missing, prints half a mark, or prints noise forever is unreachable", async () => {
  const missing = connectWorkspace({ shell: ["tau-no-such-program"], cwd: "/tmp" });
  await expect(missing).rejects.toMatchObject({ code: "workspace_unreachable" });
  const code = { code: "workspace_unreachable" };
  await expect(unreachable("printf 'tau-12'; exit 0")).rejects.toMatchObject(code);
  await expect(unreachable("yes | head -c 3000000; sleep 5")).rejects.toThrow("without end");
  await expect(unreachable("exec sleep 5", { connectMs: 300 })).rejects.toThrow("did not start");
});

test("a carrier that changes bytes is refused with advice", async () => {
  const failed = unreachable('sh -c "$1" | sed -u "s/\\r//"');
  await expect(failed).rejects.toThrow("without a terminal");
});

// No command runs here, so none is killed: tests that kill commands run in a separate process table.
test("calls work again after a carrier was killed", async () => {
  const { folder, shell } = carrier('echo $$ >>pids; exec sh -c "$1"');
  const events = new EventEmitter();
  const onStatus = (status: string) => events.emit(status);
  const workspace = await connectWorkspace({ shell, cwd: folder }, { onStatus });
  onTestFinished(() => workspace.dispose());
  const pids = Buffer.from(await workspace.read(join(folder, "pids"))).toString();
  const isLost = once(events, "lost");
  process.kill(Number(pids.split("\n")[0]), "SIGKILL");
  await isLost;
  await workspace.write(join(folder, "after"), Buffer.from("x"));
  expect(readdirSync(folder).toSorted()).toEqual(["after", "carrier", "pids"]);
});

test("a command whose parent was killed has no exit code instead of 0", async () => {
  const workspace = await connectWorkspace({ shell: ["sh", "-c"], cwd: "/tmp" });
  onTestFinished(() => workspace.dispose());
  const { done } = await workspace.spawn({
    command: ["sh", "-c", 'kill -9 "$PPID"'],
    onOutput: () => undefined,
  });
  expect(await done).toEqual({ exitCode: null });
});
