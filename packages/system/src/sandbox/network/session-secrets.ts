import type { Diagnostic } from "../../base/diagnostic.ts";
import { randomHex } from "../../base/random.ts";
import { plainName } from "../policy/domain-list.ts";
import { hostAndPort, type SandboxSecret } from "../policy/secret-settings.ts";

/** Receives reports about the secrets. */
export interface SecretListener {
  readonly note: (diagnostic: Diagnostic) => void;
  /** Receives each value that was read, so that it can be hidden everywhere. */
  readonly noteSecret: (value: string) => void;
}

/** The ways to read the values. */
export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly runCommand: (command: string) => Promise<string>;
}

/** A secret with its placeholder in this session. */
export interface HeldSecret extends SandboxSecret {
  readonly placeholder: string;
}

/** A value, and the text that answers show instead. */
export interface Replacement {
  readonly value: string;
  readonly placeholder: string;
}

/** The secrets of one session. Values are kept only in memory, and read when a request needs them. */
export class SessionSecrets {
  readonly #held: readonly HeldSecret[];
  readonly #sources: SecretSources;
  #listener: SecretListener | undefined;
  readonly #current = new Map<HeldSecret, Promise<string>>();
  /** Every value ever read: a value that was replaced since is still a secret. */
  readonly #seen = new Map<string, string>();

  constructor(secrets: readonly SandboxSecret[], sources: SecretSources) {
    this.#sources = sources;
    this.#held = secrets.map((secret) => ({
      ...secret,
      placeholder: `tau-secret-${randomHex(16)}`,
    }));
  }

  /** Reports refusals and values that were read to the listener. */
  listen(listener: SecretListener): void {
    this.#listener = listener;
  }

  /** The variables for the environment of commands. */
  get variables(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#held.map(({ env, placeholder }) => [env, placeholder]));
  }

  /** Every host of a secret, with its name and port. */
  get hosts(): readonly { readonly name: string; readonly port: number }[] {
    return this.#held.flatMap(({ hosts }) => hosts.map(hostAndPort));
  }

  /** Whether a name is one of the hosts, whatever the port. */
  isNamed(name: string): boolean {
    return this.hosts.some((host) => plainName(host.name) === plainName(name));
  }

  /** The secrets for a host. */
  forHost(name: string, port: number): readonly HeldSecret[] {
    return this.#held.filter(({ hosts }) =>
      hosts
        .map(hostAndPort)
        .some((host) => plainName(host.name) === plainName(name) && host.port === port),
    );
  }

  /** The texts that answers must not show. */
  get replacements(): readonly Replacement[] {
    return [...this.#seen].map(([value, placeholder]) => ({ value, placeholder }));
  }

  /** Hides a text derived from a value, such as the base64 of `basic`. */
  hide(text: string, placeholder: string): void {
    this.#seen.set(text, placeholder);
  }

  /** @throws {Error} the value cannot be read; the text reveals nothing of it */
  valueOf(secret: HeldSecret): Promise<string> {
    const known = this.#current.get(secret) ?? this.#read(secret);
    this.#current.set(secret, known);
    known.catch(() => this.#current.delete(secret));
    return known;
  }

  /** Reads a value again after the server refused it; returns whether it has changed. */
  async readAgain(secret: HeldSecret): Promise<boolean> {
    if (typeof secret.value === "string" && !secret.value.startsWith("!")) return false;
    const before = await this.valueOf(secret);
    this.#current.delete(secret);
    return (await this.valueOf(secret)) !== before;
  }

  refused(message: string): void {
    this.#listener?.note({ severity: "warning", code: "sandbox_secret_refused", message });
  }

  async #read(secret: HeldSecret): Promise<string> {
    const value = await this.#find(secret).catch(() => undefined);
    // Other characters that a header cannot contain.
    if (value === undefined || !/^[\x20-\x7e]+$/.test(value) || value.trim() === "") {
      throw new Error(`The value of the secret ${secret.env} cannot be read.`);
    }
    this.#seen.set(value, secret.placeholder);
    this.#listener?.noteSecret(value);
    return value;
  }

  async #find({ value }: HeldSecret): Promise<string | undefined> {
    if (typeof value === "function") return value();
    if (value.startsWith("$")) {
      const name = value.slice(1);
      if (/^[A-Za-z_]\w*$/.test(name)) return this.#sources.environment[name];
    }
    if (!value.startsWith("!")) return value;
    return (await this.#sources.runCommand(value.slice(1))).trim();
  }
}
