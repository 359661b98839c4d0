import { type ProcessRegistry, SharedPrograms, unlessAborted } from "@tau-agent/system";
import type {
  McpConnection,
  RequestLimits,
  ServerConnection,
  ServerDemands,
} from "./connection.ts";
import type { Life, OpenedServer } from "./opened-server.ts";

/** A connection that several sessions can share. */
export type SharableServer = OpenedServer & { readonly connection: McpConnection };

export type StartShared = (life: Life, processes: ProcessRegistry) => Promise<SharableServer>;

interface User {
  readonly life: Life;
  readonly leave: () => Promise<void>;
  /** The session's share of the connection, with separate clocks. */
  connection: McpConnection | undefined;
  requests: number;
}

/** The servers shared by the sessions of a process. */
export class ServerPool {
  readonly #servers = new SharedPrograms<SharedServer>();

  /**
   * Connects to the server with this key, and starts it if it is not in use. The returned connection
   * belongs to this user: closing it does not end the server for others.
   *
   * @param key - everything that distinguishes one server from another
   */
  async open(key: string, life: Life, start: StartShared): Promise<OpenedServer> {
    const { program, leave } = this.#servers.join(key, (processes, onGone) =>
      createSharedServer((shared) => start(shared, processes), onGone),
    );
    return program.join(life, leave);
  }
}

function createSharedServer(start: (life: Life) => Promise<SharableServer>, onGone: () => void) {
  const userCount = new Set<User>();
  const attempt = new AbortController();
  let hasEnded = false;
  const opening = start({
    demands: demands(),
    signal: attempt.signal,
    onClosed: () => closed(),
  });
  opening.catch(onGone);

  function connectionOf(user: User, connection: McpConnection): ServerConnection {
    const during = async <Result>(work: () => Promise<Result>): Promise<Result> => {
      user.requests += 1;
      try {
        return await work();
      } finally {
        user.requests -= 1;
      }
    };
    return {
      capabilities: connection.capabilities,
      instructions: connection.instructions,
      request: (method, params, limits: RequestLimits) =>
        during(() => connection.request(method, params, limits)),
      list: (method, member, limits: RequestLimits) =>
        during(() => connection.list(method, member, limits)),
      close: () => leaveFor(user),
    };
  }

  function leaveFor(user: User): Promise<void> {
    userCount.delete(user);
    return user.leave();
  }

  function closed(): void {
    hasEnded = true;
    onGone();
    for (const { life } of [...userCount]) life.onClosed();
  }

  /**
   * Messages and questions of the server go to the session whose request it works on, or to none if that
   * is uncertain. The server is not told of folders, because those of the sessions may differ.
   */
  function demands(): ServerDemands {
    const refused = new Error("Several sessions use this server: it is not known whom to ask");
    return {
      elicit: async (params, signal) => {
        const asked = only();
        if (asked?.connection === undefined) return { action: "cancel" };
        return asked.connection.pauseFor(() => asked.life.demands.elicit(params, signal));
      },
      sample: async (params, signal) => {
        const { connection, life } = only() ?? {};
        if (connection === undefined || life?.demands.sample === undefined) throw refused;
        const { sample } = life.demands;
        return connection.pauseFor(() => sample(params, signal));
      },
      onListChanged: (list) => {
        for (const { life } of userCount) life.demands.onListChanged(list);
      },
      // Each session knows the ids of its own questions.
      onElicited: (id) => {
        for (const { life } of userCount) life.demands.onElicited(id);
      },
      onLog: (level, text) => only()?.life.demands.onLog(level, text),
    };
  }

  /** The session for which the server currently works; the only user, if there is just one. */
  function only(): User | undefined {
    const users = [...userCount];
    const busy = users.length === 1 ? users : users.filter(({ requests }) => requests > 0);
    return busy.length === 1 ? busy[0] : undefined;
  }

  return {
    async join(life: Life, leave: () => Promise<void>): Promise<OpenedServer> {
      const user: User = { life, leave, connection: undefined, requests: 0 };
      userCount.add(user);
      try {
        const opened = await unlessAborted(opening, life.signal);
        if (hasEnded) throw new Error(opened.failure() ?? "it ended");
        user.connection = opened.connection.share();
        return { ...opened, connection: connectionOf(user, user.connection) };
      } catch (error) {
        await leaveFor(user);
        throw error;
      }
    },
    async close(): Promise<void> {
      attempt.abort();
      const opened = await opening.catch(() => undefined);
      await opened?.connection.close();
    },
  };
}

type SharedServer = ReturnType<typeof createSharedServer>;
