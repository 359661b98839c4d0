import { mkdirSync } from "node:fs";
import { type AgentSession, createAgentSession } from "@tau-agent/coding-agent";
import type { CliOptions } from "../command-line/cli-options.ts";
import { type ProcessEnvironment, readEnvironment } from "../process/environment.ts";
import type { Logger } from "../process/logger.ts";
import { type ExtensionSeams, sessionOptions } from "./session-options.ts";

/** Opens the session of a command line and logs problems with its environment. */
export async function openSession(
  options: CliOptions,
  logger: Logger,
  seams: ExtensionSeams = {},
  environment: ProcessEnvironment = readEnvironment(),
): Promise<AgentSession> {
  const given = await sessionOptions(options, environment, seams);
  const session = await createAgentSession(given).catch(async (error: unknown) => {
    const { levelMistake } = await import("./level-mistake.ts");
    throw (await levelMistake(error, given)) ?? error;
  });
  if (/^[a-z]+:\/\/[^/?#]*:[^/?#]*@/i.test(options.store ?? "")) {
    logger.warn("--store contains a password, which the list of processes shows; use TAU_STORE");
  }
  // Listing models uses no server, so problems with local servers are not logged.
  const isList = options.listModels !== undefined;
  logger.diagnostics(session.diagnostics.filter(({ code }) => !isList || code !== "local_server"));
  session.onDiagnostic((diagnostic) => logger.diagnostics([diagnostic]));
  return session;
}

/**
 * Checks, before the first of many sessions, whether extensions declare the options that the host does not
 * know. Costs nothing if there are no such options.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export async function settleBeforeSessions(
  options: CliOptions,
  { logger, environment, beforeExtensions }: SettlingContext,
): Promise<void> {
  if (options.unknown.size === 0) return;
  if (environment.sessionHandle === undefined) {
    const seams = { beforeExtensions };
    const { workspace, ...here } = options;
    const place = workspace === undefined ? {} : { cwd: folderWithoutProject(environment) };
    const memory = { ...here, ...place, noSession: true };
    await (await openSession(memory, logger, seams, environment)).dispose();
  }
  options.areUnknownSettled = true;
}

/**
 * A project in another workspace cannot declare options through extensions, and its workspace may belong to a
 * client that is not connected yet. The user's extensions are the same in a folder without a project.
 */
function folderWithoutProject({ agentDirectory }: ProcessEnvironment): string {
  mkdirSync(agentDirectory, { recursive: true, mode: 0o700 });
  return agentDirectory;
}

interface SettlingContext {
  readonly logger: Logger;
  readonly environment: ProcessEnvironment;
  readonly beforeExtensions: () => Promise<void>;
}
