import {
  describeSandboxOf,
  listSavedSessions,
  SessionSharing,
  sessionPolicy,
} from "@tau-agent/coding-agent";
import type { CliOptions } from "../command-line/cli-options.ts";
import { refuse } from "../command-line/values.ts";
import { withoutOptions } from "../command-line/without-options.ts";
import { settleBeforeSessions } from "../session/open-session.ts";
import { sessionOptions } from "../session/session-options.ts";
import { IsolatedLines, type IsolatedLinesOptions } from "./clients/isolated-lines.ts";
import { garbageCollection } from "./sessions/collect-garbage.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";
import { openHostedSession } from "./sessions/open-session.ts";
import type { ManySessions } from "./sessions/session-pool.ts";
import { youngSpaceBound } from "./sessions/young-space.ts";

export async function manySessions(context: HostingContext): Promise<ManySessions> {
  const { options, environment } = context;
  refuseOneSession(options);
  await settleBeforeSessions(options, context);
  const { agentDirectory, cwd, variables } = environment;
  const defaults = { ...context, sharing: new SessionSharing() };
  const boundYoungSpace = youngSpaceBound();
  return {
    policy: await sessionPolicy(options.policy),
    openSession: (asked, seams) => {
      boundYoungSpace();
      return openHostedSession(asked, defaults, seams);
    },
    onRest: garbageCollection(),
    describeSandbox: () => describeSandboxOf({ agentDirectory, cwd, environment: variables }),
    listSaved: async () => listSavedSessions(await sessionOptions(options, environment)),
    isolate: options.isolate && isolation(context),
  };
}

export function isolatedLines(options: IsolatedLinesOptions): IsolatedLines {
  return new IsolatedLines(options);
}

function isolation({
  environment: { program, variables, store },
  options: { policy },
  words,
}: HostingContext): ManySessions["isolate"] {
  return async (openIn, { sessionId, onEnd }) => {
    const { IsolatedSession } = await import("./sessions/isolated-session.ts");
    // Passes the policy's contents, because the file may have changed since it was read.
    const policies = policy.flatMap((each) => ["--policy", JSON.stringify(each)]);
    const command = [...program, ...policies, ...withoutOptions(words, ofHost)];
    const own = { ...variables, TAU_STORE: store };
    return IsolatedSession.open({ sessionId, command, variables: own, onEnd }, openIn);
  };
}

/** The options that concern this host and its clients, and the policy, whose contents are passed instead. */
const ofHost = [
  ...["listen", "isolate", "allow-origin", "allow-remote", "console", "console-host"],
  ...["client-timeout-ms", "policy", "end-with-sessions"],
];

function refuseOneSession(options: CliOptions): void {
  const one = [
    ["--session", options.session],
    ["--continue", options.continue ?? options.resume],
    ["--fork", options.fork],
    ["--session-id", options.sessionId],
    ["--name", options.name],
  ].find(([, value]) => value !== undefined)?.[0];
  if (one === undefined) return;
  refuse(String(one), "with --sessions, open_session says which session");
}
