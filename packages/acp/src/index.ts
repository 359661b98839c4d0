export type { AgentInfo } from "./mapping/capabilities.ts";
export { type AcpAgent, type AcpOptions, serveAcp } from "./serve-acp.ts";
export type { SessionOrder, SessionSource } from "./sessions.ts";
