export interface EnvironmentVariable {
  readonly name: string;
  readonly help: string;
}

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

/** The variables that set the addresses of providers, or parts of them. */
export const addressVariables: readonly EnvironmentVariable[] = [
  { name: "ANTHROPIC_BASE_URL", help: "Address of anthropic, without /v1" },
  { name: "OPENAI_BASE_URL", help: "Address of openai, with /v1" },
  { name: "GOOGLE_GEMINI_BASE_URL", help: "Address of google" },
  { name: "AZURE_OPENAI_BASE_URL", help: "Address of your resource of azure" },
  { name: "AZURE_OPENAI_RESOURCE_NAME", help: "The same as the name of the resource" },
  { name: "AZURE_OPENAI_API_VERSION", help: "Version of azure's interface; v1 by default" },
  { name: "AZURE_OPENAI_DEPLOYMENT_NAME_MAP", help: "Deployments of azure, as model=deployment,…" },
  { name: "AWS_REGION", help: "Region of amazon-bedrock, before AWS_DEFAULT_REGION" },
  { name: "AWS_ENDPOINT_URL_BEDROCK_RUNTIME", help: "Address of amazon-bedrock" },
  { name: "GOOGLE_CLOUD_PROJECT", help: "Project of google-vertex" },
  { name: "GOOGLE_CLOUD_LOCATION", help: "Location of google-vertex" },
  { name: "CLOUDFLARE_ACCOUNT_ID", help: "Account of both providers of Cloudflare" },
  { name: "CLOUDFLARE_GATEWAY_ID", help: "Gateway of cloudflare-ai-gateway" },
  { name: "OLLAMA_HOST", help: "Where Ollama listens; 127.0.0.1:11434 by default" },
];

export const variablesOfCommands: readonly EnvironmentVariable[] = [
  { name: "AI_AGENT", help: "tau" },
  { name: "PI_CODING_AGENT", help: "true" },
  { name: "PI_SESSION_ID", help: "Id of the session" },
  { name: "PI_SESSION_FILE", help: "File of the session, if it has one" },
  { name: "PI_PROVIDER", help: "Provider of the model" },
  { name: "PI_MODEL", help: "Id of the model" },
  { name: "PI_REASONING_LEVEL", help: "Thinking level" },
];
