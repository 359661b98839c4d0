import type { CliOptions } from "../../command-line/cli-options.ts";
import type { ProcessEnvironment } from "../../process/environment.ts";
import type { StdioProcess } from "../../rpc/connection/serve-lines.ts";

export interface HostingContext extends StdioProcess {
  readonly options: CliOptions;
  readonly environment: ProcessEnvironment;
  readonly words: readonly string[];
  readonly beforeExtensions: () => Promise<void>;
}
