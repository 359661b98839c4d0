import { chmodSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it, onTestFinished } from "vitest";
import { checkSandbox } from "./sandbox-check.ts";

/** A folder with a bwrap that fails as it does on some machines. */
function failing(script: string): string {
  const folder = mkdtempSync(join(tmpdir(), "tau-bwrap-"));
  onTestFinished(() => rmSync(folder, { recursive: true }));
  writeFileSync(join(folder, "bwrap"), `#!/bin/sh\n${script}\n`);
  chmodSync(join(folder, "bwrap"), 0o755);
  return folder;
}

it.each([
  ["echo 'bwrap: Unknown option --cap-drop' >&2; exit 1", /Unknown option/, /too old/],
  [
    'echo "bwrap: Can\'t mount proc on /newroot/proc: Operation not permitted" >&2; exit 1',
    /mount proc/,
    /systempaths=unconfined/,
  ],
  [
    "echo 'bwrap: loopback: Failed RTM_NEWADDR: Operation not permitted' >&2; exit 1",
    /RTM_NEWADDR/,
    /NET_ADMIN/,
  ],
  [
    "echo 'bwrap: No permissions to create a new namespace' >&2; exit 1",
    /No permissions/,
    /namespaces/,
  ],
  ["exit 1", /./, /namespaces/],
])("says why and what to change when bwrap fails with: %s", async (script, reason, remedy) => {
  const check = await checkSandbox({ PATH: failing(script) }, "linux");
  expect(check).toMatchObject({
    available: false,
    mechanism: "bubblewrap",
    reason: expect.stringMatching(reason),
    remedy: expect.stringMatching(remedy),
  });
});

it("works without the status of each command if a wrapper does not pass on descriptors", async () => {
  const strict = `case $* in *--json-status-fd*) echo 'bwrap: Write to info_fd: Bad file descriptor' >&2; sleep 660 & exit 1;; esac`;
  const check = await checkSandbox({ PATH: failing(strict) }, "linux");
  expect(check).toMatchObject({ available: true, reportsStatus: false });
});

it("does not wait for a bwrap that hangs", async () => {
  const check = await checkSandbox({ PATH: failing("exec sleep 660") }, "linux");
  expect(check.reason).toMatch(/did not answer within 5 seconds/);
});

it("names the mechanism of other systems", async () => {
  expect(await checkSandbox({}, "win32")).toMatchObject({ available: false, mechanism: null });
  expect(await checkSandbox({ PATH: "/nowhere" }, "linux")).toMatchObject({
    reason: "bubblewrap is not installed",
  });
});
