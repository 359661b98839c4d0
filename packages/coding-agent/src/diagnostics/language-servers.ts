import type { Workspace } from "@tau-agent/rpc-protocol/workspace";
import { type ProcessRegistry, SharedPrograms } from "@tau-agent/system";
import type { OwnPlace } from "./checked-place.ts";
import type { Checker } from "./checker.ts";
import type { ServerChecker, ServerEntry } from "./server-checker.ts";

/** Where a language server runs; it may outlive the session that started it. */
export interface ServerPlace {
  /** The connection that the server cannot outlive; undefined on this machine. */
  readonly connection: Workspace | undefined;
  /** Everything else that distinguishes this place from others. */
  readonly key: string;
  readonly open: (processes: ProcessRegistry) => OwnPlace;
}

/** The language servers that the sessions of a host share: one for each entry and place. */
export class LanguageServers {
  readonly #here = new SharedPrograms<ServerChecker>();
  readonly #elsewhere = new WeakMap<Workspace, SharedPrograms<ServerChecker>>();

  /** A session's access to a server, which starts with the first check. */
  async join(entry: ServerEntry, place: ServerPlace): Promise<Checker> {
    const { ServerChecker } = await import("./server-checker.ts");
    const { program, leave } = this.#serversOf(place).join(
      JSON.stringify([place.key, entry]),
      (processes) => new ServerChecker(entry, place.open(processes)),
    );
    return { check: (file, signal) => program.check(file, signal), close: leave };
  }

  #serversOf({ connection }: ServerPlace): SharedPrograms<ServerChecker> {
    if (connection === undefined) return this.#here;
    const servers = this.#elsewhere.get(connection) ?? new SharedPrograms();
    this.#elsewhere.set(connection, servers);
    return servers;
  }
}
