import type { CliOptions } from "../command-line/cli-options.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { exit, preparation, prepareProcess } from "../process/host-process.ts";
import { Shutdown } from "../process/shutdown.ts";
import { settleBeforeSessions } from "../session/open-session.ts";
import { runAcp } from "./acp.ts";

export async function startAcp(
  options: CliOptions,
  { environment, output }: Pick<CommandContext, "environment" | "output">,
): Promise<void> {
  const logger = prepareProcess(options);
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  const input = process.stdin;
  const beforeExtensions = preparation(shutdown, input);
  await settleBeforeSessions(options, { logger, environment, beforeExtensions });
  shutdown.owesAnswers = () => false;
  runAcp({ options, environment, input, output, shutdown, logger, beforeExtensions });
}
