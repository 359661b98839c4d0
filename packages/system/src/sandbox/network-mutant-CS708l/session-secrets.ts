import type { Diagnostic } from "../../base/diagnostic.ts";
import { randomHex } from "../../base/random.ts";
import { plainName } from "../policy/domain-list.ts";
import { hostAndPort, type SandboxSecret } from "../policy/secret-settings.ts";

/** Who learns of what happened. */
export interface SecretListener {
  readonly note: (diagnostic: Diagnostic) => void;
  /** Receives each value that was read, so that nothing shows it. */
  readonly noteSecret: (value: string) => void;
}

/** What reads the values. */
export interface SecretSources {
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly runCommand: (command: string) => Promise<string>;
}

/** A secret with the placeholder that this session has for it. */
export interface HeldSecret extends SandboxSecret {
  readonly placeholder: string;
}

/** A value, and what answers show instead. */
export interface Replacement {
  readonly value: string;
  readonly placeholder: string;
}

/** The secrets of one session. Values are in memory only, and read when a request needs them. */
export class SessionSecrets {
  readonly #held: readonly HeldSecret[];
  readonly #sources: SecretSources;
  #listener: SecretListener | undefined;
  readonly #current = new Map<HeldSecret, Promise<string>>();
  /** Every value ever read: what was replaced since is still a secret. */
  readonly #seen = new Map<string, string>();

  constructor(secrets: readonly SandboxSecret[], sources: SecretSources) {
    this.#sources = sources;
    this.#held = secrets.map((secret) => ({
      ...secret,
      placeholder: `tau-secret-${randomHex(16)}`,
    }));
  }

  /** Tells of refusals and of values that were read. */
  listen(listener: SecretListener): void {
    this.#listener = listener;
  }

  /** What commands find in their environment. */
  get variables(): Readonly<Record<string, string>> {
    return Object.fromEntries(this.#held.map(({ env, placeholder }) => [env, placeholder]));
  }

  /** Every host that a value is for, as a name with its port. */
  get hosts(): readonly { readonly name: string; readonly port: number }[] {
    return this.#held.flatMap(({ hosts }) => hosts.map(hostAndPort));
  }

  /** Whether a name is a host's, whatever its port. */
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

  /** What answers must not show. */
  get replacements(): readonly Replacement[] {
    return [...this.#seen].map(([value, placeholder]) => ({ value, placeholder }));
  }

  /** Hides a text that a value was made into, such as the base64 of `basic`. */
  hide(text: string, placeholder: string): void {
    this.#seen.set(text, placeholder);
  }

  /** @throws {Error} the value cannot be had; the text does not show what was found */
  valueOf(secret: HeldSecret): Promise<string> {
    const known = this.#current.get(secret) ?? this.#read(secret);
    this.#current.set(secret, known);
    known.catch(() => this.#current.delete(secret));
    return known;
  }

  /** Reads a value again that the server refused; whether it is another one. */
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
    // What else would not fit into a header.
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
