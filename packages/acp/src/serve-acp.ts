import { type AgentContext, agent, RequestError } from "@agentclientprotocol/sdk";
import { type MessageOutput, MessageStream } from "./client/message-stream.ts";
import { type AgentInfo, authMethods, initializeResponse } from "./mapping/capabilities.ts";
import { invalidParams, requestError } from "./mapping/errors.ts";
import { type SessionSource, Sessions, type Wanted } from "./sessions.ts";

export interface AcpOptions {
  readonly input: NodeJS.ReadableStream;
  readonly output: MessageOutput;
  readonly source: SessionSource;
  readonly info: AgentInfo;
  readonly hasKey: () => Promise<boolean>;
  readonly logOut: () => Promise<void>;
  readonly onEnd: () => void;
}

export interface AcpAgent {
  /** Ends all sessions; resolves once all requests are answered and all updates are written. */
  close(): Promise<void>;
}

export function serveAcp(options: AcpOptions): AcpAgent {
  const { input, output, source, info, hasKey, logOut, onEnd } = options;
  const sessions = new Sessions(source);
  const messages = new MessageStream(input, output, onEnd);
  const app = agent({ name: info.name });
  addConnection(app, { sessions, info, hasKey, logOut });
  addSessions(app, sessions);
  addTurns(app, sessions);
  const connection = app.connect(messages.stream);
  void connection.closed.then(onEnd);
  return {
    close: async () => {
      sessions.cancelAll();
      await messages.answered();
      messages.stopWaiting();
      await sessions.closeAll();
      await messages.flushed();
      messages.close();
    },
  };
}

type App = ReturnType<typeof agent>;

function addConnection(
  app: App,
  {
    sessions,
    info,
    hasKey,
    logOut,
  }: Pick<AcpOptions, "info" | "hasKey" | "logOut"> & { sessions: Sessions },
): void {
  app
    .onRequest("initialize", ({ params }) => {
      sessions.capabilities = params.clientCapabilities;
      return initializeResponse(info, params.clientCapabilities);
    })
    .onRequest("authenticate", ({ params: { methodId } }) =>
      inWords(async () => {
        const methods = authMethods(sessions.capabilities);
        if (!methods.some(({ id }) => id === methodId)) {
          throw invalidParams("methodId", `there is no method ${JSON.stringify(methodId)}`);
        }
        if (await hasKey()) {
          sessions.isLoggedOut = false;
          return {};
        }
        throw RequestError.authRequired(
          undefined,
          "no key was found; run tau auth login in a terminal, or set a variable such as ANTHROPIC_API_KEY",
        );
      }),
    )
    .onRequest("logout", () =>
      inWords(async () => {
        // First, so that no new session uses the old login.
        sessions.isLoggedOut = true;
        await logOut();
        return {};
      }),
    );
}

function addSessions(app: App, sessions: Sessions): void {
  app
    .onRequest("session/new", ({ params, client, signal }) =>
      inWords(async () => {
        const session = await sessions.create(client, params);
        if (signal.aborted) {
          await sessions.delete(session.sessionId);
          throw RequestError.requestCancelled();
        }
        afterAnswer(() => session.introduce());
        return { sessionId: session.sessionId, ...(await session.choices.state()) };
      }),
    )
    .onRequest("session/load", ({ params, client, signal }) =>
      inWords(async () => {
        const session = await opened(sessions, { ...params, client, signal });
        await session.replay();
        afterAnswer(() => session.introduce());
        return session.choices.state();
      }),
    )
    .onRequest("session/resume", ({ params, client, signal }) =>
      inWords(async () => {
        const session = await opened(sessions, { ...params, client, signal });
        afterAnswer(() => session.introduce());
        return session.choices.state();
      }),
    )
    .onRequest("session/list", ({ params }) => inWords(() => sessions.list(params)))
    .onRequest("session/close", ({ params }) =>
      inWords(async () => {
        await sessions.close(params.sessionId);
        return {};
      }),
    )
    .onRequest("session/delete", ({ params }) =>
      inWords(async () => {
        await sessions.delete(params.sessionId);
        return {};
      }),
    );
}

function addTurns(app: App, sessions: Sessions): void {
  app
    .onRequest("session/set_mode", ({ params, client }) =>
      inWords(async () => {
        const session = await sessions.get(client, params.sessionId);
        session.choices.setMode(params.modeId);
        return {};
      }),
    )
    .onRequest("session/set_config_option", ({ params, client }) =>
      inWords(async () => {
        const session = await sessions.get(client, params.sessionId);
        return { configOptions: await session.choices.setOption(params.configId, params.value) };
      }),
    )
    .onRequest("session/prompt", ({ params, client, signal }) =>
      inWords(async () => {
        const session = await sessions.get(client, params.sessionId);
        return session.prompt(params.prompt, signal);
      }),
    )
    .onNotification("session/cancel", ({ params }) => sessions.cancel(params.sessionId));
}

/** Opens an existing session, unless the client has cancelled the request meanwhile. */
async function opened(
  sessions: Sessions,
  order: {
    readonly client: AgentContext;
    readonly sessionId: string;
    readonly signal: AbortSignal;
  } & Wanted,
) {
  const session = await sessions.get(order.client, order.sessionId, order);
  if (order.signal.aborted) throw RequestError.requestCancelled();
  return session;
}

/** Converts errors to those of the protocol. */
async function inWords<Value>(work: () => Promise<Value>): Promise<Value> {
  try {
    return await work();
  } catch (error) {
    throw requestError(error);
  }
}

/** Runs after the answer, because only the answer tells the client the session's id. */
function afterAnswer(work: () => void): void {
  setImmediate(work);
}
