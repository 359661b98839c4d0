/** The way out of a sandbox whose network ends at a proxy. */
export interface SandboxNetworkDoor {
  /** What runs the command inside: a program and its first arguments. */
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** What has to be seen inside. */
  readonly files: readonly string[];
  /** The proxy's port on this machine, where the sandbox shares the host's network. */
  readonly port?: number | undefined;
  readonly close: () => Promise<void>;
}
