import {
  HarnessCapabilityUnsupportedError,
  HarnessError,
  type HarnessV1PermissionMode,
  type HarnessV1Session,
  type HarnessV1StartOptions,
} from "@ai-sdk/harness";
import { fromSandboxSession } from "@tau-agent/coding-agent/workspace";
import { type RemoteSession, RpcClient } from "@tau-agent/rpc-client";
import { builtinTools, nativeName } from "./builtin-tools.ts";
import { startHost } from "./host-socket.ts";
import { HARNESS_ID, type LifecycleData, readState } from "./lifecycle-state.ts";
import type { Connected, SessionSeams } from "./session-seams.ts";
import type { TauHarnessOptions } from "./tau-harness-options.ts";
import { TauSession } from "./tau-session.ts";

const modes = {
  "allow-reads": "ask",
  "allow-edits": "acceptEdits",
  "allow-all": "all",
} as const satisfies Record<HarnessV1PermissionMode, string>;

/** Starts a session, or goes on with one. */
export async function openTauSession(
  options: TauHarnessOptions,
  start: HarnessV1StartOptions,
): Promise<HarnessV1Session> {
  if (start.headers !== undefined && Object.keys(start.headers).length > 0) {
    const message = "Tau sends no headers of a session with requests; set them in models.json";
    throw new HarnessCapabilityUnsupportedError({ message, harnessId: HARNESS_ID });
  }
  const before = readState(start.continueFrom ?? start.resumeFrom);
  const seams: SessionSeams = { turn: undefined, words: [] };
  return new TauSession(start, seams, before, (known) =>
    connectSession(options, start, seams, known),
  );
}

/** Connects to the host of a session, or starts one. */
async function connectSession(
  options: TauHarnessOptions,
  start: HarnessV1StartOptions,
  seams: SessionSeams,
  known: LifecycleData | undefined,
): Promise<Connected> {
  const { sessionWorkDir: cwd, sandboxSession } = start;
  const connect = (url: string) =>
    RpcClient.connect(url, {
      clientInfo: { name: "ai-sdk-harness" },
      workspace: fromSandboxSession(sandboxSession as never, {
        id: `sandbox-${start.sessionId}`,
        cwd,
      }),
      approve: (request, { signal }) => {
        if (seams.turn === undefined) throw new Error("no turn is in flight");
        return seams.turn.ask(request, signal);
      },
      answerQuestions: (request) => {
        if (seams.turn === undefined) throw new Error("no turn is in flight");
        return seams.turn.askQuestions(request);
      },
      ...(options.credentials && { credentials: options.credentials }),
      ...(options.raiseBudget && { raiseBudget: options.raiseBudget }),
      ...(options.requestTimeoutMs !== undefined && { requestTimeoutMs: options.requestTimeoutMs }),
    });
  if (known !== undefined) {
    const client = await connect(known.url).catch(() => undefined);
    const session = await client
      ?.attachSession(known.handle, {
        ...(known.position && { after: known.position }),
        onEvent: (event) => seams.turn?.hear(event),
      })
      .catch(() => undefined);
    if (client !== undefined && session !== undefined) {
      return { client, session, data: known, isSameHost: true };
    }
    await client?.close();
  }
  const url = await startHost(options, seams.words);
  const client = await connect(url);
  const durableSessionId = known?.durableSessionId ?? start.sessionId.replace(/[^\w-]/g, "-");
  const session = await client.openSession({
    durableSessionId,
    workspace: { client: true, cwd },
    ...(known?.sessionPath !== undefined && { sessionPath: known.sessionPath }),
  });
  session.onEvent((event) => seams.turn?.hear(event));
  await session.setPermissions({ mode: modes[start.permissionMode ?? "allow-all"], timeoutMs: 0 });
  await filterTools(session, start);
  const data = { url, handle: session.sessionId, durableSessionId, shown: known?.shown ?? [] };
  return { client, session, data: { ...data, promptId: known?.promptId }, isSameHost: false };
}

async function filterTools(
  session: RemoteSession,
  { builtinToolFiltering: filtering }: HarnessV1StartOptions,
): Promise<void> {
  if (filtering === undefined) return;
  const { tools } = await session.getTools();
  const named = new Set(filtering.toolNames.map(nativeName));
  const unknown = filtering.toolNames.find((name) => !Object.hasOwn(builtinTools, name));
  if (unknown !== undefined)
    throw new HarnessError({ message: `There is no built-in tool ${unknown}` });
  const kept = tools.filter(({ name }) => named.has(name) === (filtering.mode === "allow"));
  await session.setActiveTools(kept.map(({ name }) => name));
}
