import type { CliOptions } from "../../command-line/cli-options.ts";
import type { ProcessEnvironment } from "../../process/environment.ts";
import type { Logger } from "../../process/logger.ts";
import type { FrameOutput } from "../../process/output.ts";
import type { Shutdown } from "../../process/shutdown.ts";

export interface HostingContext {
  readonly options: CliOptions;
  readonly environment: ProcessEnvironment;
  readonly logger: Logger;
  readonly output: FrameOutput;
  readonly input: NodeJS.ReadableStream;
  readonly shutdown: Shutdown;
  readonly words: readonly string[];
  readonly beforeExtensions: () => Promise<void>;
}
