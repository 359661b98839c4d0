import { describeSandboxOf, SessionSharing, sessionPolicy } from "@tau-agent/coding-agent";
import { ProtocolError } from "@tau-agent/rpc-protocol";
import type { CliOptions } from "../command-line/cli-options.ts";
import { settleBeforeSessions } from "../session/open-session.ts";
import { IsolatedLines, type IsolatedLinesOptions } from "./clients/isolated-lines.ts";
import type { HostingContext } from "./sessions/hosting-context.ts";
import { openHostedSession } from "./sessions/open-session.ts";
import type { ManySessions } from "./sessions/session-pool.ts";

export async function manySessions(context: HostingContext): Promise<ManySessions> {
  const { options, environment } = context;
  refuseOneSession(options);
  await settleBeforeSessions(options, context);
  const { agentDirectory, cwd, variables } = environment;
  const defaults = { ...context, sharing: new SessionSharing() };
  return {
    policy: await sessionPolicy(options.policy),
    openSession: (asked, seams) => openHostedSession(asked, defaults, seams),
    describeSandbox: () => describeSandboxOf({ agentDirectory, cwd, environment: variables }),
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
  return async (params, { sessionId, onEnd }) => {
    const { IsolatedSession } = await import("./sessions/isolated-session.ts");
    // As it was read: the file may be another one by now.
    const policies = policy.flatMap((each) => ["--policy", JSON.stringify(each)]);
    const command = [...program, ...policies, ...wordsOfSession(words)];
    const own = { ...variables, TAU_STORE: store };
    return IsolatedSession.open({ sessionId, command, variables: own, onEnd }, params);
  };
}

/** The arguments of this host without those that are about its clients. */
function wordsOfSession(words: readonly string[]): string[] {
  const kept: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? "";
    const isOurs =
      /^--(listen|isolate|allow-origin|console-host|client-timeout-ms|policy)(=|$)/.test(word);
    if (!isOurs && word !== "--allow-remote" && word !== "--console") kept.push(word);
    else if (isOurs && !word.includes("=")) at += 1;
  }
  return kept;
}

function refuseOneSession(options: CliOptions): void {
  const one = [
    ["--session", options.session],
    ["--continue", options.continue ?? options.resume],
    ["--fork", options.fork],
    ["--session-id", options.sessionId],
    ["--name", options.name],
  ].find(([, value]) => value !== undefined)?.[0];
  if (one === undefined) return;
  const reason = "with --sessions, open_session says which session";
  throw new ProtocolError("invalid_option", { option: String(one), reason });
}
