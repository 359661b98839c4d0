/**
 * The client for web pages: sessions of a listening host, over a WebSocket. Nothing here needs Node.
 *
 * @packageDocumentation
 */

export type { Params, Result } from "@tau-agent/rpc-protocol";
export {
  ConnectionClosedError,
  FrameTooLargeError,
  RequestTimeoutError,
  RpcError,
} from "../base/errors.ts";
export type { DeltaEvent } from "../events/delta-event.ts";
export { type DefinedTool, defineTool } from "../events/host-tools.ts";
export type { UriContent, UriScheme } from "../events/host-uris.ts";
export type { RemoteOptions } from "../session/connect-options.ts";
export type { AttachOptions, RemoteClient } from "../session/remote-client.ts";
export type { RemoteEvent, RemoteSession, SessionPosition } from "../session/remote-session.ts";
export { type BrowserOptions, connect } from "./connect.ts";
