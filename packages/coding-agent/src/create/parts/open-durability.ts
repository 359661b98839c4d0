import { dirname, join } from "node:path";
import { SessionError } from "@tau-agent/rpc-protocol/plain";
import type { Workspace, WorkspaceOwner } from "@tau-agent/rpc-protocol/workspace";
import type { ToolEnvironment } from "@tau-agent/system";
import type { EpochGuard } from "@tau-agent/system/durability";
import { CallContexts } from "../../durability/call-context.ts";
import { hashOf } from "../../durability/call-records.ts";
import { DurableCalls } from "../../durability/durable-calls.ts";
import { FolderRecorder, type Guarded } from "../../durability/folder-recorder.ts";
import { ownedWorkspace } from "../../durability/owned-workspace.ts";
import type { Durability } from "./durability.ts";
import type { SessionDraft } from "./session-draft.ts";

export function openDurability(draft: SessionDraft): Durability {
  const { options, settings } = draft.surroundings;
  const keepMs = options.durabilityAdoptMs ?? settings.get("durabilityAdoptMs");
  const contexts = new CallContexts();
  const owner = options.durableOwner ?? ownerOf(draft);
  let raw: Workspace | undefined;
  let calls: DurableCalls | undefined;
  let guard: EpochGuard | undefined;
  const guarded: Guarded = async (work) => {
    // In a remote workspace, merges and restores run as commands and file operations of the workspace.
    if (raw === undefined || raw.id !== "local") return work();
    const { EpochGuard } = await import("@tau-agent/system/durability");
    guard ??= new EpochGuard((await raw.describe()).temporaryDirectory);
    return guard.change(owner(), work);
  };
  const outsideCalls = (inner: Workspace) =>
    ownedWorkspace(inner, { owner, contexts: new CallContexts(), keepMs });
  const owned = (inner: Workspace) => ownedWorkspace(inner, { owner, contexts, keepMs });
  return {
    owner,
    own({ workspace, workspaceOf, outside }) {
      // In a remote workspace, the records of calls are kept where sandboxed commands cannot write.
      raw ??= workspace.id === "local" ? workspace : (outside?.() ?? workspace);
      return {
        kept: {
          commandId: () => contexts.current?.commandId,
          resume: (commandId, work) => contexts.run({ adopts: commandId }, work),
          merge: async (work) => {
            await contexts.current?.beforeMerge?.();
            return guarded(work);
          },
          forget: async (commandId) => calls?.endJob(commandId),
        },
        workspace: owned(workspace),
        ...(workspaceOf && { workspaceOf: (id) => owned(workspaceOf(id)) }),
        ...(outside && { outside: () => owned(outside()) }),
      };
    },
    async calls(environment) {
      if (raw === undefined) throw new Error("The places of a session are owned first");
      await checkDurable(raw);
      const { parts } = draft;
      calls = new DurableCalls({
        workspace: outsideCalls(raw),
        contexts,
        owner,
        isRoot: options.durableOwner === undefined,
        folder: () => environment.cwd,
        log: () => parts.conversation.log,
        findTool: (name) => parts.inputs.tools.all.find((tool) => tool.name === name),
        isBuiltIn: (tool) => parts.inputs.tools.sourceOf(tool) === "builtin",
        recorder: raw.id === "local" ? folderRecorder(draft, environment, guarded) : undefined,
        turns: options.sharing.folderTurns,
        keepMs,
        onWait: ({ id: toolCallId, name: toolName, arguments: args }) => {
          const text = "Waiting for another call that changes this folder.";
          const partialResult = { content: [{ type: "text" as const, text }], details: {} };
          void parts.emit({
            type: "tool_execution_update",
            toolCallId,
            toolName,
            args,
            partialResult,
          });
        },
        jobs: parts.inputs.jobs,
      });
      return calls;
    },
  };
}

/** The owner of effects, and how often the session was taken over, according to its log. */
function ownerOf(draft: SessionDraft): () => WorkspaceOwner {
  let known: { readonly key: string; readonly session: string } | undefined;
  return () => {
    const { key, epoch } = draft.parts.conversation.log.ownership;
    if (known?.key !== key) known = { key, session: hashOf(key).slice(0, 32) };
    return { session: known.session, epoch };
  };
}

/** @throws {SessionError} `durability_unavailable` */
async function checkDurable(workspace: Workspace): Promise<void> {
  const unavailable = (reason: string) => new SessionError("durability_unavailable", { reason });
  if (workspace.durable === undefined) {
    throw unavailable(`the workspace ${workspace.id} keeps no commands and knows no epochs`);
  }
  const git = await workspace
    .spawn({ command: ["git", "--version"], onOutput: () => {} })
    .then(({ done }) => done)
    .catch(() => undefined);
  if (git?.exitCode !== 0) throw unavailable(`there is no git in the workspace ${workspace.id}`);
}

function folderRecorder(
  draft: SessionDraft,
  environment: ToolEnvironment,
  guarded: Guarded,
): FolderRecorder {
  const { places, settings, options } = draft.surroundings;
  const { rewind = {} } = options;
  const { agentDirectory } = places;
  return new FolderRecorder(guarded, async (folder) => {
    const { FolderSnapshots } = await import("@tau-agent/worktrees/folder-snapshots");
    const { header, path } = draft.parts.conversation.log;
    return FolderSnapshots.open(environment, {
      folder,
      directory: join(agentDirectory, "rewind"),
      ownFolders: [
        agentDirectory,
        ...(path === undefined ? [] : [dirname(path), path, `${path}.lock`]),
      ],
      limits: {
        maxFileBytes: rewind.maxFileBytes ?? settings.get("rewind.maxFileBytes"),
        maxTotalBytes: rewind.maxTotalBytes ?? settings.get("rewind.maxTotalBytes"),
      },
      session: header.id,
    });
  });
}
