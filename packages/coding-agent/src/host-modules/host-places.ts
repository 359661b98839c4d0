/** What host modules know of the process they run in. */
export interface HostPlaces {
  readonly cwd: string;
  readonly agentDirectory: string;
  readonly homeDirectory: string;
  readonly temporaryDirectory: string;
  readonly environment: Readonly<Record<string, string | undefined>>;
  readonly version: string;
}
