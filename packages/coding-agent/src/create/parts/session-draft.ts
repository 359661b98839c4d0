import type { ScopedModel } from "@tau-agent/models";
import type { OpenOptions, SessionHome, SessionLog } from "@tau-agent/sessions/log";
import { createKeyMask, type Diagnostic, type KeyMask } from "@tau-agent/system";
import type { SessionPermissions } from "../../permissions/session-permissions.ts";
import { AgentSession } from "../../session/agent-session.ts";
import type { SessionParts } from "../../session/session-parts.ts";
import type { SessionBase } from "./session-base.ts";
import type { SessionExtensions } from "./session-extensions.ts";
import { type SessionKeys, sessionKeys } from "./session-keys.ts";

export interface Surroundings extends SessionBase {
  readonly extensions: SessionExtensions | undefined;
  readonly permissions: SessionPermissions;
  readonly home: SessionHome;
  readonly openOptions: OpenOptions;
  readonly closeStore?: (() => Promise<void>) | undefined;
  readonly closeWorkspace?: (() => Promise<void>) | undefined;
  readonly log: SessionLog;
  readonly scope: readonly ScopedModel[];
  readonly diagnostics: Diagnostic[];
}

export interface CreatedSession {
  readonly session: AgentSession;
  readonly parts: SessionParts;
}

/**
 * A session under construction. Parts that need each other keep the draft and look the others up when they work; by
 * then the session is complete.
 */
export class SessionDraft {
  readonly surroundings: Surroundings;
  readonly keys: SessionKeys;
  readonly maskKeys: KeyMask;
  #parts: SessionParts | undefined;
  #session: AgentSession | undefined;

  constructor(surroundings: Surroundings) {
    this.surroundings = surroundings;
    this.keys = sessionKeys(surroundings);
    this.maskKeys = createKeyMask(this.keys);
  }

  get parts(): SessionParts {
    return complete(this.#parts);
  }

  get session(): AgentSession {
    return complete(this.#session);
  }

  complete(parts: SessionParts): CreatedSession {
    this.#parts = parts;
    this.#session = new AgentSession(parts);
    return { session: this.#session, parts };
  }
}

function complete<Part>(part: Part | undefined): Part {
  if (part === undefined)
    throw new Error("A part of a session was used before all of them existed");
  return part;
}
