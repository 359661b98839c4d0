import type { VerificationResult } from "@tau-agent/rpc-protocol";
import { truncateTail } from "@tau-agent/system";
import type { KeptCommits, KeptFile } from "@tau-agent/worktrees";
import type { TaskPatch, TaskResult } from "./task-result.ts";

export function resultText(result: TaskResult): string {
  const { id, agent, error, output, outputPath } = result;
  const shown = truncateTail(output);
  const parts = [
    `## ${id} (${agent}): ${endingOf(result)}`,
    error,
    shown.content.trim(),
    shown.truncated
      ? `[Only the end is shown${outputPath ? `; all of it: ${outputPath}` : ""}]`
      : "",
    result.patch && `Changes: ${patchText(result.patch)}`,
    result.leftOut && `Not in the patch: ${result.leftOut.map(fileText).join(", ")}`,
    result.commits && commitsText(result.commits),
    result.verification && `Verification: ${verificationText(result.verification)}`,
  ];
  return parts.filter((part) => part !== undefined && part !== "").join("\n");
}

function endingOf({ status, exitCode, patch }: TaskResult): string {
  if (status !== "completed" || exitCode === 0) return status.replace("_", " ");
  return patch?.status === "conflict"
    ? "completed, but its changes were not applied"
    : "failed its verification";
}

function fileText({ path, keptAt }: KeptFile): string {
  return keptAt === undefined ? `${path} (lost)` : `${path} (now ${keptAt})`;
}

function commitsText({ refs, path, error }: KeptCommits): string {
  const names = refs.join(", ");
  if (error !== undefined) return `Its commits (${names}) could not be kept: ${error}`;
  return path === undefined
    ? `Only its own tree had ${names}, on commits that are here.`
    : `Its commits (${names}) can be fetched from ${path}`;
}

function patchText(patch: TaskPatch): string {
  const { unmerged = [], path } = patch;
  const merged = mergeText(patch);
  if (unmerged.length === 0 || patch.status === "kept") return merged;
  return `${merged}\nWhat it changed in the submodules ${unmerged.join(", ")} is only in the patch: ${path}`;
}

function mergeText(patch: TaskPatch): string {
  const { filesChanged, insertions, deletions, path } = patch;
  const size = `${filesChanged} ${filesChanged === 1 ? "file" : "files"}, +${insertions} -${deletions}`;
  switch (patch.status) {
    case "empty":
      return "none";
    case "discarded":
      return "discarded";
    case "applied":
      return `${size}, applied to the working tree`;
    case "branch":
      return `${size}, on the branch ${patch.branch}`;
    case "conflict":
      return `${size}, NOT applied\nThe working tree was left as it was. The patch: ${path}`;
    case "kept":
      return `${size}, not applied. The patch: ${path}`;
  }
}

function verificationText({ status, attempts, retriesUsed }: VerificationResult): string {
  const last = attempts.at(-1);
  if (status === "skipped") {
    return `skipped (${last?.error ?? "the subagent failed, or task.verification.enabled is off"})`;
  }
  const lines = (last?.commandResults ?? []).map((result) => {
    const { name, exitCode, optional, timedOut, outputPreview = "" } = result;
    if (exitCode === 0) return `- ${name}: passed`;
    const how = timedOut ? "timed out" : `exit code ${exitCode}`;
    const preview = outputPreview.trim();
    return `- ${name}${optional ? " (optional)" : ""}: ${how}${preview ? `\n${preview}` : ""}`;
  });
  if (last?.error !== undefined) lines.push(last.error);
  const repairs = retriesUsed === 0 ? "" : ` after ${retriesUsed} repair(s)`;
  return [`${status.replace("_", " ")}${repairs}`, ...lines].join("\n");
}
