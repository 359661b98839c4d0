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
   * Calls the listener with the registered servers, now and after each change. The list is empty if an extension
   * connects to them itself.
   */
  listen(listener: Listener): void {
    this.#listener = listener;
    this.tell();
  }

  /** To be called when the set of extensions has changed. */
  tell(): void {
    const runner = this.#runner();
    this.#listener(runner.has("mcp_servers_change") ? [] : runner.mcpServers);
  }

  /** To be called when an extension has registered or removed a server. */
  changed(): void {
    const runner = this.#runner();
    void runner.emit({ type: "mcp_servers_change", servers: runner.mcpServers });
    this.tell();
  }
}
