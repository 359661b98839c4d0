/** A variable that the host reads or sets. */
export interface EnvironmentVariable {
  readonly name: string;
  readonly help: string;
}

/** The variables that the host reads, besides those of providers. */
export const environmentVariables: readonly EnvironmentVariable[] = [
  { name: "PI_CODING_AGENT_DIR", help: "The agent directory; ~/.pi/agent by default" },
  {
    name: "PI_CODING_AGENT_SESSION_DIR",
    help: "Folder for session files; sessions/ of the agent directory by default",
  },
  { name: "PI_RPC_PROTOCOL", help: "Dialect of the RPC protocol, stronger than --protocol" },
  {
    name: "TAU_STORE",
    help: "Store for sessions, as --store; keeps a password off the command line",
  },
  { name: "HTTP_PROXY", help: "Proxy for requests to http addresses" },
  { name: "HTTPS_PROXY", help: "Proxy for requests to https addresses" },
  { name: "ALL_PROXY", help: "Proxy for both" },
  { name: "NO_PROXY", help: "Hosts that are reached without a proxy, comma-separated" },
  {
    name: "NODE_EXTRA_CA_CERTS",
    help: "File with further certificate authorities, read by Node.js",
  },
  { name: "HOME", help: "Where ~ is" },
];

/** The variables that the host sets for commands of the model. */
export const variablesOfCommands: readonly EnvironmentVariable[] = [
  { name: "AI_AGENT", help: "tau" },
  { name: "PI_CODING_AGENT", help: "true" },
  { name: "PI_SESSION_ID", help: "Id of the session" },
  { name: "PI_SESSION_FILE", help: "File of the session, if it has one" },
  { name: "PI_PROVIDER", help: "Provider of the model" },
  { name: "PI_MODEL", help: "Id of the model" },
  { name: "PI_REASONING_LEVEL", help: "Thinking level" },
];
