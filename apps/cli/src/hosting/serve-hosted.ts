import { describeSandboxOf, SettingsStore } from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { CliOptions } from "../command-line/cli-options.ts";
import { clientTimeoutOf, milliseconds } from "../command-line/hosting-options.ts";
import { DRAIN_TIMEOUT_MS } from "../rpc/serve.ts";
import { UiNotices } from "../rpc/ui-notices.ts";
import type { ClientSetup } from "./clients/client-options.ts";
import { serveStdio } from "./serve-stdio.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";
import { openHostedSession } from "./sessions/open-session.ts";
import { SessionPool } from "./sessions/session-pool.ts";

const SESSION_IDLE_MS = 1_800_000;

/** Serves many sessions on stdin and stdout, or one or many to those who connect. */
export async function serveHosted(context: HostingContext): Promise<void> {
  const { options, environment, dialect, shutdown, logger } = context;
  checkOptions(options);
  const isListening = options.listen.length > 0;
  const { agentDirectory, cwd } = environment;
  const settings = await SettingsStore.load({ agentDirectory, cwd });
  const drainTimeoutMs = milliseconds("--drain-timeout-ms", options.drainTimeoutMs);
  const clientTimeoutMs = clientTimeoutOf(options);
  const pool = new SessionPool({
    openSession: (asked, seams) => openHostedSession(asked, context, seams),
    graceMs: isListening ? settings.get("listen.graceMs") : undefined,
    idleMs: milliseconds("--session-idle-ms", options.sessionIdleMs) ?? SESSION_IDLE_MS,
    drainTimeoutMs: drainTimeoutMs ?? DRAIN_TIMEOUT_MS,
    handle: environment.sessionHandle,
    isolate: options.isolate && isolation(context),
  });
  // A host for one session ends with the session, and with the host that has started it.
  if (environment.sessionHandle !== undefined) {
    pool.onClosed = () => void shutdown.begin(0);
    context.input.on("end", () => void shutdown.begin(0)).resume();
  }
  if (isListening || drainTimeoutMs !== undefined) {
    shutdown.beforeTermination(async () => void (await pool.drain()));
  }
  if (isListening) {
    shutdown.terminatedCode = 0;
    pool.onDrained = () => void shutdown.begin(0);
  }
  if (!options.sessions) await openOnly(pool, context);
  const onInternalError = (error: unknown) => logger.error("A command failed unexpectedly", error);
  const describeSandbox = () =>
    describeSandboxOf({ agentDirectory, cwd, environment: environment.variables });
  const setup: ClientSetup = { pool, dialect, describeSandbox, onInternalError };
  if (!isListening) return serveStdio(setup, { ...context, clientTimeoutMs });
  const { serveListeners } = await import("./listen/serve-listeners.ts");
  await serveListeners(setup, { ...context, pingMs: settings.get("listen.pingMs") });
}

/** Starts this program again for each session. */
function isolation({
  environment: { program, variables, store },
  words,
}: HostingContext): ConstructorParameters<typeof SessionPool>[0]["isolate"] {
  return async (params, { sessionId, onEnd }) => {
    const { IsolatedSession } = await import("./sessions/isolated-session.ts");
    const command = [...program, ...wordsOfSession(words)];
    const own = { ...variables, TAU_STORE: store };
    return IsolatedSession.open({ sessionId, command, variables: own, onEnd }, params);
  };
}

/** The arguments of this host without those that are about its clients. */
function wordsOfSession(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const isOurs = /^--(listen|isolate|allow-origin|client-timeout-ms)(=|$)/.test(word);
    if (!isOurs && word !== "--allow-remote") kept.push(word);
    else if (isOurs && !word.includes("=")) at += 1;
  }
  return kept;
}

/** The session that all connections share. */
async function openOnly(pool: SessionPool, { openOnly, shutdown }: HostingContext): Promise<void> {
  const notices = new UiNotices();
  const { promise: clientReady, resolve } = Promise.withResolvers<void>();
  const session = await openOnly({
    clientReady,
    sendUiRequest: (request) => notices.send(request),
    onShutdown: () => void shutdown.begin(0),
  });
  const hosted = pool.useOnly(session, resolve);
  notices.attach((notice) => hosted.notice(notice));
  void session.hooks?.begin();
}

function checkOptions(options: CliOptions): void {
  const refuse = (option: string, reason: string): never => {
    throw new ProtocolError("invalid_option", { option, reason });
  };
  if (options.sessions) {
    const one = [
      ["--session", options.session],
      ["--continue", options.continue ?? options.resume],
      ["--fork", options.fork],
      ["--session-id", options.sessionId],
      ["--name", options.name],
    ].find(([, value]) => value !== undefined)?.[0];
    if (one !== undefined) refuse(String(one), "with --sessions, open_session says which session");
  } else if (options.isolate !== undefined) {
    refuse("--isolate", "it needs --sessions");
  }
}
