import nodePath from "node:path";
import type { ToolEnvironment } from "@tau-agent/system";
import type { JobPlace } from "../../jobs/job-folders.ts";
import { type JobSession, SessionJobs } from "../../jobs/session-jobs.ts";
import type { SessionParts } from "../../session/session-parts.ts";
import { localWorkspace } from "../../tools/common/local-place.ts";
import { jobToolNames } from "../../tools/jobs/definition.ts";
import type { SessionDraft } from "./session-draft.ts";
import { offerTools } from "./tool-search.ts";

/**
 * The background jobs of a session; jobs that outlived an earlier host are found later.
 *
 * @param isNew - whether the session begins here: it has no jobs, and in a remote workspace every query is a round trip
 */
export function createJobs(
  draft: SessionDraft,
  environment: ToolEnvironment,
  isNew: boolean,
): SessionJobs {
  const { settings, options } = draft.surroundings;
  const { clientReady } = options;
  const place = placeOf(draft, environment);
  const jobs = new SessionJobs({
    ...{ environment, place },
    allowsDetached: () =>
      place.workspace.durable !== undefined && settings.get("bash.jobs.allowDetached"),
    session: () => sessionOf(draft.parts),
    offerTools: () => offerTools(draft, jobToolNames),
  });
  if (isNew) return jobs;
  // If the workspace is unreachable now, the next query finds them.
  const find = () => void jobs.findKept().catch(() => {});
  // Deferred by a turn of the event loop, so that the caller can subscribe first.
  if (clientReady === undefined) setImmediate(find);
  else void clientReady.then(find);
  return jobs;
}

/** Where job files are kept: on the machine of the commands, outside of the sandbox. */
function placeOf(draft: SessionDraft, environment: ToolEnvironment): JobPlace {
  const { places, workspace, disk } = draft.surroundings;
  if (workspace === undefined || disk === undefined) {
    const { cwd, homeDirectory, processes, shellPath, protectedFiles, fileQueue } = environment;
    const local = localWorkspace({
      ...{ cwd, homeDirectory, processes, shellPath, protectedFiles, fileQueue },
      environment: environment.environment,
      createOutputMask: environment.createOutputMask,
    });
    return {
      workspace: local,
      path: nodePath,
      directory: nodePath.join(places.agentDirectory, "jobs"),
    };
  }
  const { path, homeDirectory } = disk;
  return { workspace, path, directory: path.join(homeDirectory, ".cache", "tau", "jobs") };
}

function sessionOf({ conversation, origins, emit, notices }: SessionParts): JobSession {
  return {
    id: conversation.log.header.id,
    promptId: origins.current,
    report: (event, promptId) => void emit(event, promptId),
    notify: (message) => notices.deliver(message),
  };
}
