import type { CliOptions } from "../command-line/cli-options.ts";
import type { CommandContext } from "../command-line/subcommand.ts";
import { exit, preparation, prepareProcess } from "../process/host-process.ts";
import { Shutdown } from "../process/shutdown.ts";
import type { Listener } from "./listen/listener.ts";
import { serveHost } from "./serve-host.ts";

/** Starts a host with a console on a free port of this machine, and prints the link that opens it. */
export async function startConsole(
  options: CliOptions,
  words: readonly string[],
  { environment, output, print }: Pick<CommandContext, "environment" | "output" | "print">,
): Promise<void> {
  const logger = prepareProcess(options);
  const shutdown = new Shutdown(exit);
  shutdown.listen();
  const { stdin: input } = process;
  const listen = options.listen.length > 0 ? options.listen : ["127.0.0.1:0"];
  const announce = ({ consoleLink }: Listener): void => {
    if (consoleLink === undefined) return;
    print(`${consoleLink()}\n`);
    process.stderr.write(
      "The link opens the console once, within five minutes. Enter prints another, Ctrl+C ends the host.\n",
    );
    input.setEncoding("utf8").on("data", (text: string) => {
      if (text.includes("\n")) print(`${consoleLink()}\n`);
    });
  };
  await serveHost({
    options: { ...options, mode: "rpc", sessions: true, console: true, listen },
    environment,
    logger,
    output,
    input,
    shutdown,
    words: ["--mode", "rpc", "--sessions", ...words],
    beforeExtensions: preparation(shutdown),
    announce,
  });
}
