import { redactSecrets } from "@tau-agent/ai";
import type { CredentialParams, GetCredentials, GivenCredentials } from "@tau-agent/rpc-protocol";
import { errorMessage, SessionError } from "@tau-agent/rpc-protocol/plain";
import { SparseMap } from "@tau-agent/system";

export interface KeptCredentialsOptions {
  readonly get: GetCredentials;
  /** Whether there is somebody to ask. */
  readonly isOffered: () => boolean;
}

/**
 * Keys that are requested from an embedder or a client, and kept only in memory. Concurrent requests
 * for the same key share a question.
 */
export class KeptCredentials {
  readonly #options: KeptCredentialsOptions;
  readonly #kept = new SparseMap<string, GivenCredentials>();
  readonly #asking = new SparseMap<string, Promise<GivenCredentials | undefined>>();

  constructor(options: KeptCredentialsOptions) {
    this.#options = options;
  }

  /** Whether there may be a key for any provider. */
  get isOffered(): boolean {
    return this.#options.isOffered();
  }

  has(provider: string): boolean {
    return [...this.#kept.keys()].some((place) => JSON.parse(place)[0] === provider);
  }

  /**
   * The key for requests to a model; undefined if none is given.
   *
   * @throws {SessionError} `key_unresolved` if there is no answer
   */
  async get(provider: string, modelId: string | undefined): Promise<GivenCredentials | undefined> {
    const kept = this.#kept.get(placeOf(provider, modelId));
    const { expiresAt = Infinity } = kept ?? {};
    if (kept !== undefined && Date.now() < expiresAt) return kept;
    if (!this.isOffered) return undefined;
    return this.#ask(provider, modelId, kept === undefined ? "start" : "expired");
  }

  /**
   * Asks for a key to replace one that the vendor refused.
   *
   * @returns whether there is a new key now
   * @throws {SessionError} `key_unresolved` if there is no answer
   */
  async renew(
    provider: string,
    modelId: string | undefined,
    refused: GivenCredentials,
  ): Promise<boolean> {
    // Another request may have renewed the key.
    const kept = this.#kept.get(placeOf(provider, modelId));
    const given = kept === refused ? await this.#ask(provider, modelId, "refused") : kept;
    return given !== undefined && !isSame(given, refused);
  }

  /** Answers another host that works for this one, such as a subagent's. */
  async answer({ provider, modelId, reason }: CredentialParams): Promise<GivenCredentials> {
    const given =
      reason === "refused" && this.isOffered
        ? await this.#ask(provider, modelId, reason)
        : await this.get(provider, modelId);
    return given ?? {};
  }

  #ask(
    provider: string,
    modelId: string | undefined,
    reason: CredentialParams["reason"],
  ): Promise<GivenCredentials | undefined> {
    const place = placeOf(provider, modelId);
    const current = this.#asking.get(place);
    if (current !== undefined) return current;
    const asked = this.#answerTo({ provider, ...(modelId !== undefined && { modelId }), reason });
    const asking = asked.finally(() => this.#asking.delete(place));
    this.#asking.set(place, asking);
    return asking;
  }

  async #answerTo(asked: CredentialParams): Promise<GivenCredentials | undefined> {
    const { provider, modelId } = asked;
    const place = placeOf(provider, modelId);
    this.#kept.delete(place);
    try {
      const given = await this.#options.get(asked);
      if (given?.apiKey === undefined && given?.headers === undefined) return undefined;
      this.#kept.set(place, given);
      return given;
    } catch (error) {
      const reason = redactSecrets(errorMessage(error));
      throw new SessionError("key_unresolved", { provider, path: "credentials", reason });
    }
  }
}

/** The name under which a key is kept. */
export function placeOf(provider: string, modelId = ""): string {
  return JSON.stringify([provider, modelId]);
}

function isSame(one: GivenCredentials, other: GivenCredentials): boolean {
  const parts = ({ apiKey, headers }: GivenCredentials) => JSON.stringify([apiKey, headers]);
  return parts(one) === parts(other);
}
