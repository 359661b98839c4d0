import { randomUUID } from "node:crypto";
import { statSync } from "node:fs";
import { isAbsolute } from "node:path";
import { isDeepStrictEqual } from "node:util";
import {
  type AgentContext,
  type ClientCapabilities,
  type McpServer,
  RequestError,
  type SessionInfo,
} from "@agentclientprotocol/sdk";
import {
  type AgentSession,
  type CreateAgentSessionOptions,
  deleteSession,
  findSavedSession,
  listSessionPage,
  SessionError,
  type SessionStart,
} from "@tau-agent/coding-agent";
import { Turns } from "@tau-agent/system";
import { clientOverlay } from "./client/client-workspace.ts";
import { invalidParams } from "./mapping/errors.ts";
import { mcpEntries } from "./mapping/mcp-servers.ts";
import { notice } from "./mapping/notice.ts";
import { AcpSession } from "./session/acp-session.ts";
import { firstLine } from "./session/session-title.ts";

const PAGE = 100;

/** What the program that runs this needs to open a session. */
export interface SessionOrder
  extends Pick<CreateAgentSessionOptions, "additionalDirectories" | "overlay" | "mcpServers"> {
  readonly cwd: string;
  readonly session: SessionStart;
  readonly sendUiRequest?: NonNullable<CreateAgentSessionOptions["extensions"]>["sendUiRequest"];
}

export interface Wanted {
  readonly cwd: string;
  readonly additionalDirectories?: readonly string[] | undefined;
  readonly mcpServers?: readonly McpServer[] | undefined;
}

export interface SessionSource {
  readonly open: (order: SessionOrder) => Promise<AgentSession>;
  /** The variables of this process. */
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly agentDirectory: string;
  /** The folder of session files, if not that of the agent directory; may depend on the project. */
  readonly sessionDirectory: (cwd: string | undefined) => Promise<string | undefined>;
  /** Whether the tools act on another machine, so that folders are not checked on this one. */
  readonly isElsewhere?: boolean | undefined;
  /** The fallback folder for a session that is opened without one and whose own no longer exists. */
  readonly cwd: string;
}

export class Sessions {
  readonly #source: SessionSource;
  readonly #open = new Map<string, AcpSession>();
  readonly #turns = new Turns();
  readonly #offeredLogins = new Set<string>();
  /** Whether the client has logged out; until it authenticates, only open sessions continue. */
  isLoggedOut = false;
  capabilities: ClientCapabilities | undefined;

  constructor(source: SessionSource) {
    this.#source = source;
  }

  async create(client: AgentContext, wanted: Wanted): Promise<AcpSession> {
    const folders = this.#foldersOf(wanted);
    const sessionId = randomUUID();
    const session: SessionStart = { kind: "new", id: sessionId, isListed: true };
    const order = { ...folders, mcpServers: mcpEntries(wanted.mcpServers ?? []), session };
    return this.#turns.take(sessionId, () => this.#start(client, sessionId, order));
  }

  /**
   * The session with this id. A session from the disk works in its own folder, unless the client wants another one. An
   * open session with other additional folders is closed and opened again.
   *
   * @throws {RequestError} -32002 if there is none, -32602 for anything but a folder
   */
  async get(client: AgentContext, sessionId: string, wanted?: Wanted): Promise<AcpSession> {
    const servers = wanted?.mcpServers ?? [];
    const folders = wanted && this.#foldersOf(wanted);
    const mcpServers = mcpEntries(servers);
    return this.#turns.take(sessionId, async () => {
      const open = this.#open.get(sessionId);
      const isAsWanted =
        folders === undefined ||
        isDeepStrictEqual(open?.additionalDirectories, folders.additionalDirectories);
      if (open !== undefined && !isAsWanted) await this.#close(sessionId);
      else if (open !== undefined) {
        // An empty list would also stop the configured servers.
        if (servers.length > 0) await open.session.mcp.set(mcpServers);
        return open;
      }
      const path = await this.#pathOf(sessionId, folders?.cwd);
      if (path === undefined) throw unknownSession(sessionId);
      const session: SessionStart = { kind: "file", path, goesToItsFolder: folders === undefined };
      const order = { ...(folders ?? { cwd: this.#source.cwd }), mcpServers, session };
      return this.#start(client, sessionId, order);
    });
  }

  /** Cancels the prompts of a session, if it is open. */
  async cancel(sessionId: string): Promise<void> {
    await this.#turns.take(sessionId, async () => {
      // Lets a prompt that was sent before reach its session first.
      await new Promise((resolve) => setImmediate(resolve));
      this.#open.get(sessionId)?.cancel();
    });
  }

  cancelAll(): void {
    for (const open of this.#open.values()) open.cancel();
  }

  /** Closes a session, if it is open. */
  async close(sessionId: string): Promise<void> {
    await this.#turns.take(sessionId, () => this.#close(sessionId));
  }

  async closeAll(): Promise<void> {
    const ids = new Set([...this.#open.keys(), ...this.#turns.keys]);
    await Promise.all([...ids].map((id) => this.close(id)));
  }

  /** Deletes a session's file; a missing file is not an error. */
  async delete(sessionId: string): Promise<void> {
    await this.#turns.take(sessionId, async () => {
      const { header, path: own } = this.#open.get(sessionId)?.session.log ?? {};
      await this.#close(sessionId);
      // An extension may have switched to another session, which must not be deleted.
      const path = header?.id === sessionId ? own : await this.#pathOf(sessionId, undefined);
      if (path === undefined) return;
      await deleteSession(path).catch((error: unknown) => {
        if (!(error instanceof SessionError && error.code === "session_not_found")) throw error;
      });
    });
  }

  /**
   * The saved sessions, the latest first, in pages.
   *
   * @throws {RequestError} -32602 for a relative folder or a foreign cursor
   */
  async list({ cwd, cursor }: { cwd?: string | null; cursor?: string | null }): Promise<{
    sessions: SessionInfo[];
    nextCursor?: string;
  }> {
    if (cwd != null && !isAbsolute(cwd)) throw invalidParams("cwd", "an absolute path is needed");
    const start = cursor == null ? 0 : Number(cursor);
    if (!Number.isSafeInteger(start) || start < 0) {
      throw invalidParams("cursor", "it is not a nextCursor of an earlier answer");
    }
    const { agentDirectory } = this.#source;
    const sessionDirectory = await this.#source.sessionDirectory(cwd ?? undefined);
    const places = { agentDirectory, sessionDirectory, cwd: cwd ?? undefined };
    const { sessions, next } = await listSessionPage(places, { start, limit: PAGE });
    return {
      sessions: sessions
        // The protocol allows only absolute paths; a file of another program may have others.
        .filter((one) => isAbsolute(one.cwd))
        .map(({ id, name, firstMessage, modified, ...one }) => ({
          sessionId: id,
          cwd: one.cwd,
          title: name ?? firstLine(firstMessage ?? "") ?? null,
          updatedAt: modified,
          ...this.#foldersOfOpen(id),
        })),
      ...(next === undefined ? {} : { nextCursor: String(next) }),
    };
  }

  /** A session file does not record the additional folders that a client wants. */
  #foldersOfOpen(sessionId: string): Pick<SessionInfo, "additionalDirectories"> {
    const folders = this.#open.get(sessionId)?.additionalDirectories ?? [];
    return folders.length === 0 ? {} : { additionalDirectories: [...folders] };
  }

  async #close(sessionId: string): Promise<void> {
    const open = this.#open.get(sessionId);
    this.#open.delete(sessionId);
    await open?.close();
  }

  async #pathOf(sessionId: string, cwd: string | undefined): Promise<string | undefined> {
    const { agentDirectory } = this.#source;
    const sessionDirectory = await this.#source.sessionDirectory(cwd);
    return findSavedSession(sessionId, { agentDirectory, sessionDirectory });
  }

  async #start(
    client: AgentContext,
    sessionId: string,
    order: Pick<SessionOrder, "cwd" | "additionalDirectories" | "session" | "mcpServers">,
  ): Promise<AcpSession> {
    if (this.isLoggedOut) {
      throw RequestError.authRequired(undefined, "you have logged out; authenticate first");
    }
    const { capabilities } = this;
    const { environment } = this.#source;
    let opened: AcpSession | undefined;
    const signal = () => opened?.session.signal;
    const onTerminal = (toolCallId: string, terminalId: string): void =>
      opened?.showTerminal(toolCallId, terminalId);
    const session = await this.#source.open({
      ...order,
      overlay: clientOverlay({ client, sessionId, signal, environment, onTerminal }, capabilities),
      sendUiRequest: this.#uiRequests(client, sessionId),
    });
    const { additionalDirectories } = order;
    opened = new AcpSession({
      ...{ sessionId, session, client, capabilities, additionalDirectories },
      offeredLogins: this.#offeredLogins,
    });
    this.#open.set(sessionId, opened);
    return opened;
  }

  /** @throws {RequestError} -32602 if a path is not a folder */
  #foldersOf({ cwd, additionalDirectories = [] }: Wanted) {
    if (!this.#source.isElsewhere) {
      checkFolder("cwd", cwd);
      for (const [index, folder] of additionalDirectories.entries()) {
        checkFolder(`additionalDirectories[${index}]`, folder);
      }
    }
    const others = new Set(additionalDirectories);
    others.delete(cwd);
    return { cwd, additionalDirectories: [...others] };
  }

  /** Extension notices; dialogs are sent as requests. */
  #uiRequests(client: AgentContext, sessionId: string): SessionOrder["sendUiRequest"] {
    const { capabilities } = this;
    if (!capabilities?.session?.notices && !capabilities?.elicitation?.form) return undefined;
    return (request) => {
      if (request.method !== "notify") return;
      const { message, notifyType = "info" } = request;
      for (const update of notice(capabilities, notifyType, message)) {
        void client.notify("session/update", { sessionId, update });
      }
    };
  }
}

function unknownSession(sessionId: string): RequestError {
  const message = `There is no session ${JSON.stringify(sessionId)}; session/list has those there are`;
  return new RequestError(-32002, message, { sessionId });
}

function checkFolder(field: string, path: string): void {
  if (!isAbsolute(path)) throw invalidParams(field, "an absolute path is needed");
  let isFolder = false;
  try {
    isFolder = statSync(path).isDirectory();
  } catch {
    // Missing or unreadable.
  }
  if (!isFolder) throw invalidParams(field, `${path} is not a folder`);
}
