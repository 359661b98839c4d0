import type { RegisteredMcpServer } from "../api/events.ts";
import type { ExtensionRunner } from "./runner.ts";

type Listener = (servers: readonly RegisteredMcpServer[]) => void;

export class RegisteredServers {
  readonly #runner: () => ExtensionRunner;
  #listener: Listener = () => {};

  constructor(runner: () => ExtensionRunner) {
    this.#runner = runner;
  }

  /**
   * Calls the listener with the servers, now and after each change; with none where an extension connects
   * to them itself.
   */
  listen(listener: Listener): void {
    this.#listener = listener;
    this.tell();
  }

  /** There are other extensions now. */
  tell(): void {
    const runner = this.#runner();
    this.#listener(runner.has("mcp_servers_change") ? [] : runner.mcpServers);
  }

  /** An extension has registered a server, or taken one back. */
  changed(): void {
    const runner = this.#runner();
    void runner.emit({ type: "mcp_servers_change", servers: runner.mcpServers });
    this.tell();
  }
}
