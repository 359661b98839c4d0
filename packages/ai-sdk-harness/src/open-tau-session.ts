import {
  HarnessCapabilityUnsupportedError,
  HarnessError,
  type HarnessV1PermissionMode,
  type HarnessV1Session,
  type HarnessV1StartOptions,
} from "@ai-sdk/harness";
import { fromSandboxSession } from "@tau-agent/coding-agent/workspace";
import {
  type ReconnectedEvent,
  type RemoteClient,
  type RemoteEvent,
  type RemoteSession,
  RpcClient,
} from "@tau-agent/rpc-client";
import { builtinTools, nativeName } from "./builtin-tools.ts";
import { startHost } from "./host-socket.ts";
import { HARNESS_ID, type LifecycleData, readState } from "./lifecycle-state.ts";
import type { Connected, SessionSeams } from "./session-seams.ts";
import type { TauHarnessOptions } from "./tau-harness-options.ts";
import { TauSession } from "./tau-session.ts";

/** A local host that cannot be reached for this long has ended. */
const RECONNECT_MS = 5_000;

const modes = {
  "allow-reads": "ask",
  "allow-edits": "acceptEdits",
  "allow-all": "all",
} as const satisfies Record<HarnessV1PermissionMode, string>;

/** Starts or resumes a session. */
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
  const attached = known && (await attachTo(known, connectorOf(options, start, seams), seams));
  if (attached !== undefined) return attached;
  const url = await startHost(options, seams.words);
  const client = await connectorOf(options, start, seams)(url);
  const durableSessionId = known?.durableSessionId ?? start.sessionId.replace(/[^\w-]/g, "-");
  const workspace = { client: true, cwd: start.sessionWorkDir } as const;
  const session = await client.openSession({ durableSessionId, workspace });
  session.onEvent((event) => seams.turn?.hear(event));
  await session.setPermissions({ mode: modes[start.permissionMode ?? "allow-all"], timeoutMs: 0 });
  await filterTools(session, start);
  const { promptId, place, shown = [] } = known ?? {};
  const data = { url, handle: session.sessionId, durableSessionId, promptId, place, shown };
  return { client, session, data, standing: "reopened" };
}

type Connector = (url: string) => Promise<RemoteClient>;

function connectorOf(
  options: TauHarnessOptions,
  { sandboxSession, sessionId, sessionWorkDir: cwd }: HarnessV1StartOptions,
  seams: SessionSeams,
): Connector {
  const turn = () => {
    if (seams.turn === undefined) throw new Error("no turn is in flight");
    return seams.turn;
  };
  return (url) =>
    RpcClient.connect(url, {
      clientInfo: { name: "ai-sdk-harness" },
      workspace: fromSandboxSession(sandboxSession as never, { id: `sandbox-${sessionId}`, cwd }),
      approve: (request, { signal }) => turn().ask(request, signal),
      answerQuestions: (request) => turn().askQuestions(request),
      reconnect: { maxMs: RECONNECT_MS },
      ...(options.credentials && { credentials: options.credentials }),
      ...(options.raiseBudget && { raiseBudget: options.raiseBudget }),
      ...(options.requestTimeoutMs !== undefined && { requestTimeoutMs: options.requestTimeoutMs }),
    });
}

/** Attaches to the host that has the session; undefined if the host has ended or has closed the session. */
async function attachTo(
  data: LifecycleData,
  connect: Connector,
  seams: SessionSeams,
): Promise<Connected | undefined> {
  const client = await connect(data.url).catch(() => undefined);
  let gap: ReconnectedEvent | undefined;
  const session = await client
    ?.attachSession(data.handle, {
      ...(data.position && { after: data.position }),
      onEvent: (event) => {
        if (isGap(event)) gap = event;
        else seams.turn?.hear(event);
      },
    })
    .catch(() => undefined);
  if (client === undefined || session === undefined) {
    await client?.close();
    return undefined;
  }
  const standing = gap === undefined ? "live" : "behind";
  // The file contains everything it did, and the next client to open the session gets its result again.
  if (gap?.state.isStreaming === false) {
    await session.close();
    await client.close();
    return undefined;
  }
  return { client, session, data, standing };
}

function isGap(event: RemoteEvent): event is ReconnectedEvent {
  return event.type === "reconnected" && !event.resumed;
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
