import { join } from "node:path";
import type { SettingsStore, ToolEnvironment } from "@tau-agent/system";
import { type JobSession, SessionJobs } from "../jobs/session-jobs.ts";
import type { SessionParts } from "../session/build-session.ts";
import type { Places } from "./places.ts";
import type { CreateAgentSessionOptions } from "./session-options.ts";

/** The background jobs of a session; those that outlived an earlier host are found later. */
export function createJobs(
  { clientReady }: Pick<CreateAgentSessionOptions, "clientReady">,
  surroundings: {
    readonly places: Places;
    readonly settings: SettingsStore;
    readonly toolEnvironment: ToolEnvironment;
    /** Called once the session is built. */
    readonly parts: () => SessionParts;
  },
): SessionJobs {
  const { places, settings, toolEnvironment: environment, parts } = surroundings;
  const jobs = new SessionJobs({
    environment,
    directory: join(places.agentDirectory, "jobs"),
    allowsDetached: () => settings.get("bash.jobs.allowDetached"),
    session: () => sessionOf(parts()),
  });
  // A turn of the event loop later, so that the caller can subscribe first.
  if (clientReady === undefined) setImmediate(() => void jobs.findDetached());
  else void clientReady.then(() => jobs.findDetached());
  return jobs;
}

/** What jobs know of the session they belong to. */
function sessionOf({ conversation, origins, emit, notices }: SessionParts): JobSession {
  return {
    id: conversation.log.header.id,
    promptId: origins.current,
    report: (event, promptId) => void emit(event, promptId),
    notify: (message) => notices.deliver(message),
  };
}
