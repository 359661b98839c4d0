import { checkName, type SessionKey } from "@tau-agent/sessions";

/** The names of the Redis keys for one store key. All keys of a project are in the same slot of a cluster. */
export interface RedisKeys {
  /** Hash: the sessions of the project and the times when they were written. */
  readonly sessions: string;
  /** The session in {@link sessions}; undefined for a subpath. */
  readonly field: string | undefined;
  /** Set: the names of the session's parts. */
  readonly parts: string;
  readonly part: string;
  /** Hash: the newest token and, while the lease is not released, `expires`. */
  readonly lease: string;
  /** List: the entries. */
  readonly log: string;
  /** Set: the ids of the entries. */
  readonly ids: string;
  /** Hash: blobs by id. */
  readonly blobs: string;
}

/** @throws {SessionStoreError} `invalid_key` */
export function keysOf(prefix: string, key: SessionKey): RedisKeys {
  const { projectKey, sessionId, subpath } = key;
  const project = projectPrefix(prefix, projectKey);
  const session = spelt("sessionId", sessionId);
  const part = subpath === undefined ? session : `${session}:${spelt("subpath", subpath)}`;
  return {
    sessions: `${project}sessions`,
    field: subpath === undefined ? session : undefined,
    parts: `${project}parts:${session}`,
    part,
    lease: `${project}lease:${part}`,
    log: `${project}log:${part}`,
    ids: `${project}ids:${part}`,
    blobs: `${project}blobs:${part}`,
  };
}

export function projectPrefix(prefix: string, projectKey: string): string {
  return `${prefix}{${spelt("projectKey", projectKey)}}:`;
}

/** Reverses {@link spelt}. */
export function unspelt(text: string): string {
  return text.replace(/~([0-9a-f]{4})/g, (_, unit: string) => {
    return String.fromCharCode(Number.parseInt(unit, 16));
  });
}

/** Encodes a name uniquely, with characters that have no meaning in Redis. */
function spelt(name: string, text: string): string {
  checkName(name, text);
  return text.replace(/[^A-Za-z0-9._-]/g, (character) => {
    return Array.from({ length: character.length }, (_, at) => {
      return `~${character.charCodeAt(at).toString(16).padStart(4, "0")}`;
    }).join("");
  });
}
