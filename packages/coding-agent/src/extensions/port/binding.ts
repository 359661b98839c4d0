import { ExtensionError } from "../api/errors.ts";
import type { SessionPort } from "./session-port.ts";

/**
 * The target of the objects given to extensions: none while they load, then the session, and none
 * again after a reload or a switch.
 */
export class Binding {
  #port: SessionPort | undefined;
  #staleReason: string | undefined;

  bind(port: SessionPort): void {
    this.#port = port;
  }

  invalidate(reason: string): void {
    this.#staleReason ??= reason;
  }

  get isBound(): boolean {
    return this.#port !== undefined && this.#staleReason === undefined;
  }

  /** @throws {ExtensionError} `stale` */
  check(member: string): void {
    if (this.#staleReason === undefined) return;
    throw new ExtensionError(
      "stale",
      `${member} belongs to an extension instance that is stale after ${this.#staleReason}. Use the objects given to handlers of the new session, for instance through withSession.`,
    );
  }

  /** @throws {ExtensionError} `stale`, `not_ready` */
  port(member: string): SessionPort {
    this.check(member);
    if (this.#port !== undefined) return this.#port;
    throw new ExtensionError(
      "not_ready",
      `${member} cannot be used while the extension is being loaded. Use it in an event handler, a command or a tool.`,
    );
  }
}

/** A binding of one instance, which is also refused if that instance failed to start. */
export class Staged extends Binding {
  readonly #shared: Binding;
  isCommitted = false;

  constructor(shared: Binding) {
    super();
    this.#shared = shared;
  }

  override get isBound(): boolean {
    return this.isCommitted && this.#shared.isBound;
  }

  override check(member: string): void {
    super.check(member);
    this.#shared.check(member);
  }

  override port(member: string): SessionPort {
    super.check(member);
    return this.#shared.port(member);
  }
}
