import { firstPieces, SettingsStore } from "@tau-agent/coding-agent";
import { loadFrames } from "@tau-agent/rpc-protocol";
import { clientTimeoutOf, milliseconds } from "../command-line/hosting-options.ts";
import { refuse } from "../command-line/values.ts";
import { chooseDialect } from "../rpc/choose-dialect.ts";
import { openSession } from "../session/open-session.ts";
import { readWorkspace } from "../session/read-workspace.ts";
import { survives } from "../session/survives.ts";
import type { ClientSetup } from "./clients/client-options.ts";
import { IdlePreparation } from "./idle-preparation.ts";
import type { ListenContext } from "./listen/serve-listeners.ts";
import { serveStdio } from "./serve-stdio.ts";
import type { ClientPlace } from "./sessions/client-place.ts";
import type { HostedSession } from "./sessions/hosted-session.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";
import type { ReplayRing, RingLimits } from "./sessions/replay-ring.ts";
import { SessionPool } from "./sessions/session-pool.ts";

const SESSION_IDLE_MS = 1_800_000;

/** How long running work may take when a host drains. */
const DRAIN_TIMEOUT_MS = 25_000;

/**
 * Serves one or many sessions, to a client on stdin and stdout or to clients that connect. Loads the code for
 * many sessions or listeners only if it is needed (row `start`).
 */
export async function serveHost(
  context: HostingContext & Pick<ListenContext, "announce">,
): Promise<void> {
  const { options, environment, input, shutdown, logger } = context;
  const isListening = options.listen.length > 0;
  refuseWithoutSessions(options);
  const many = options.sessions ? await import("./many-sessions.ts") : undefined;
  const settings = isListening ? await SettingsStore.load(environment) : undefined;
  const drainTimeoutMs = milliseconds("--drain-timeout-ms", options.drainTimeoutMs);
  const clientTimeoutMs = clientTimeoutOf(options);
  const idleMs = milliseconds("--session-idle-ms", options.sessionIdleMs) ?? SESSION_IDLE_MS;
  const pool = new SessionPool({
    many: await many?.manySessions(context),
    graceMs: settings?.get("listen.graceMs"),
    createRing: many || isListening ? await ringMaker() : undefined,
    idleMs,
    drainTimeoutMs: drainTimeoutMs ?? DRAIN_TIMEOUT_MS,
    handle: environment.sessionHandle,
  });
  // A host for one session ends with the session and with the host that started it.
  if (environment.sessionHandle !== undefined) {
    pool.onClosed = () => void shutdown.begin(0);
    input.on("end", () => void shutdown.begin(0)).resume();
  }
  if (options.endWithSessions) endWithSessions(pool, shutdown, idleMs);
  // Without the option, a signal ends a host on stdin within seconds.
  if (isListening || drainTimeoutMs !== undefined) {
    shutdown.beforeTermination(async () => void (await pool.drain()));
  }
  if (isListening) {
    shutdown.terminatedCode = 0;
    pool.onDrained = () => void shutdown.begin(0);
  }
  const isOfClient = !options.sessions && isClientsWorkspace(options, isListening);
  const [dialect] = await Promise.all([
    chooseDialect(options.protocol, environment.variables),
    options.sessions || isOfClient ? undefined : openOnly(pool, context),
  ]);
  const onInternalError = (error: unknown) => logger.error("A command failed unexpectedly", error);
  const isolatedLines = options.isolate && many?.isolatedLines;
  const preparation = new IdlePreparation({
    pieces: () => [loadFrames, ...firstPieces(pool.sessions[0]?.state.model?.api)],
    isBusy: () => pool.sessions.some(({ isBusy }) => isBusy),
  });
  const onCommand = preparation.asked.bind(preparation);
  const setup: ClientSetup = { pool, dialect, isolatedLines, onInternalError, onCommand };
  const openLate = isOfClient ? (place: ClientPlace) => openOnly(pool, context, place) : undefined;
  if (settings === undefined) await serveStdio(setup, { ...context, clientTimeoutMs }, openLate);
  pool.solo?.begin();
  if (settings === undefined) return;
  const { serveListeners } = await import("./listen/serve-listeners.ts");
  await serveListeners(setup, { ...context, pingMs: settings.get("listen.pingMs") });
}

function refuseWithoutSessions(options: HostingContext["options"]): void {
  if (options.sessions) return;
  const reason = "it needs --sessions";
  if (options.isolate !== undefined) refuse("--isolate", reason);
  if (options.endWithSessions) refuse("--end-with-sessions", reason);
}

/** For a host that nobody else may be able to stop: the process that started it may die before it opens a session. */
function endWithSessions(
  pool: SessionPool,
  shutdown: HostingContext["shutdown"],
  idleMs: number,
): void {
  const end = (): void => {
    if (pool.list().length === 0) void shutdown.begin(0);
  };
  pool.onClosed = end;
  setTimeout(end, idleMs).unref();
}

async function ringMaker(): Promise<(limits: RingLimits) => ReplayRing> {
  const { ReplayRing } = await import("./sessions/replay-ring.ts");
  return (limits) => new ReplayRing(limits);
}

/**
 * Whether the client serves the workspace of the only session. The session is then opened when the client
 * offers the workspace.
 */
function isClientsWorkspace(options: HostingContext["options"], isListening: boolean): boolean {
  const isOfClient = Object.hasOwn(Object(readWorkspace(options)), "client");
  if (!isOfClient || !isListening) return isOfClient;
  return refuse("--workspace", "with --listen, a workspace of the client needs --sessions");
}

function openOnly(
  pool: SessionPool,
  context: HostingContext,
  clientPlace?: ClientPlace,
): Promise<HostedSession> {
  const { options, logger, environment, shutdown, beforeExtensions } = context;
  return pool.openOnly(
    async (seams) => {
      const given = { ...seams, beforeExtensions, clientPlace };
      const session = await openSession(options, logger, given, environment);
      shutdown.outlivesHost = survives(options, session.settings);
      return session;
    },
    () => void shutdown.begin(0),
  );
}
