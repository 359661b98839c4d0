import { join } from "node:path";
import type { ToolEnvironment } from "@tau-agent/system";
import { type JobSession, SessionJobs } from "../../jobs/session-jobs.ts";
import type { SessionParts } from "../../session/session-parts.ts";
import { jobToolNames } from "../../tools/jobs/definition.ts";
import type { SessionDraft } from "./session-draft.ts";
import { offerTools } from "./tool-search.ts";

/** The background jobs of a session; those that outlived an earlier host are found later. */
export function createJobs(draft: SessionDraft, environment: ToolEnvironment): SessionJobs {
  const { places, settings, options, workspace } = draft.surroundings;
  const { clientReady } = options;
  const jobs = new SessionJobs({
    environment,
    directory: join(places.agentDirectory, "jobs"),
    // What would keep it runs on this machine.
    allowsDetached: () => workspace === undefined && settings.get("bash.jobs.allowDetached"),
    session: () => sessionOf(draft.parts),
    offerTools: () => offerTools(draft, jobToolNames),
  });
  // A turn of the event loop later, so that the caller can subscribe first.
  if (clientReady === undefined) setImmediate(() => void jobs.findDetached());
  else void clientReady.then(() => jobs.findDetached());
  return jobs;
}

function sessionOf({ conversation, origins, emit, notices }: SessionParts): JobSession {
  return {
    id: conversation.log.header.id,
    promptId: origins.current,
    report: (event, promptId) => void emit(event, promptId),
    notify: (message) => notices.deliver(message),
  };
}
