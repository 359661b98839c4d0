import { tmpdir } from "node:os";
import { WorkspaceError } from "@tau-agent/rpc-protocol/workspace";
import type { FolderSnapshots } from "@tau-agent/worktrees/folder-snapshots";
import { expect, it, vi } from "vitest";
import { FolderRecorder } from "./folder-recorder.ts";

it("reverts nothing for a host that has lost its session", async () => {
  const restore = vi.fn();
  const snapshots = { restore } as Partial<FolderSnapshots> as FolderSnapshots;
  const lost = () => Promise.reject(new WorkspaceError("stale_epoch"));
  const recorder = new FolderRecorder(lost, async () => snapshots);
  const restoring = recorder.restore(tmpdir(), "0".repeat(40), 0);
  await expect(restoring).rejects.toMatchObject({ code: "stale_epoch" });
  expect(restore).not.toHaveBeenCalled();
});
