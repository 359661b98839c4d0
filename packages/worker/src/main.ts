import { FleetWorker } from "./fleet-worker.ts";
import { readOptions, shownPasswords, UsageError, usage } from "./worker-options.ts";

export async function main(argv: readonly string[]): Promise<void> {
  const say = (text: string): void => void process.stderr.write(`tau-worker: ${text}\n`);
  if (argv[0] === "--help" || argv[0] === "-h") {
    process.stdout.write(usage);
    return;
  }
  try {
    // biome-ignore lint/style/noProcessEnv: this is the command line
    const options = readOptions(argv, process.env, process.cwd());
    for (const option of shownPasswords(argv)) {
      say(`${option} contains a password, which the list of processes shows; use the variable`);
    }
    const worker = await FleetWorker.start(options, say);
    let isEnding = false;
    const end = (): void => {
      if (isEnding) process.exit(1);
      isEnding = true;
      worker.drain().then(
        () => process.exit(0),
        (error: unknown) => fail(say, error),
      );
    };
    process.on("SIGTERM", end);
    process.on("SIGINT", end);
    say(`takes prompts from ${options.queue}`);
  } catch (error) {
    fail(say, error);
  }
}

function fail(say: (text: string) => void, error: unknown): void {
  const text = error instanceof Error ? error.message : String(error);
  say(`error: ${text}`);
  if (error instanceof UsageError) say("tau-worker --help shows the options");
  process.exit(1);
}
