/** The network access of a sandbox whose traffic goes through a proxy. */
export interface SandboxNetworkDoor {
  /** A program and its first arguments that run the command inside. */
  readonly command: readonly string[];
  readonly variables: Readonly<Record<string, string>>;
  /** Files that must be visible inside. */
  readonly files: readonly string[];
  /** The proxy's port on this machine, if the sandbox shares the host's network. */
  readonly port?: number | undefined;
  readonly close: () => Promise<void>;
}
