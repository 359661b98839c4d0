export type { AssistantMessageEvent } from "@tau-agent/rpc-protocol/events";
export type {
  AssistantContent,
  AssistantMessage,
  ImageContent,
  LlmMessage,
  Model,
  ModelCost,
  StopReason,
  TextContent,
  ThinkingContent,
  ThinkingLevel,
  ToolCall,
  ToolResultMessage,
  Usage,
  UsageCost,
  UserContent,
  UserMessage,
} from "@tau-agent/rpc-protocol/messages";
export {
  classifyFailure,
  isContextOverflow,
  isProviderError,
  ProviderError,
  type ProviderErrorCode,
  type ProviderErrorInit,
  type VendorFailure,
} from "./errors.ts";
export { guardRedirects } from "./fetch.ts";
export {
  catalogSource,
  findModel,
  listProviders,
  loadModels,
  type ProviderInfo,
  whyNotOffered,
} from "./models/catalog.ts";
export { computeCost, serviceTierFactor } from "./models/cost.ts";
export {
  clampThinkingLevel,
  nextThinkingLevel,
  supportedThinkingLevels,
  thinkingBudget,
} from "./models/thinking.ts";
export { cacheLifetimeMs, renewalTokens } from "./prompt-cache.ts";
export type {
  BlockKey,
  CacheRetention,
  Context,
  Delta,
  EarlierContext,
  Environment,
  ImageLimits,
  Provider,
  Reducer,
  RequestDiagnostic,
  StreamOptions,
  ThinkingBudgets,
  TokenCounts,
  ToolDefinition,
} from "./provider.ts";
export { builtInProviders, type ProviderTable } from "./providers.ts";
export { redactSecrets } from "./redact-secrets.ts";
export { type RepeatedRequests, repeatedRequests } from "./repeated-requests.ts";
export { Assembler, type AssemblerOptions } from "./reply/assemble.ts";
export { emptyUsage } from "./reply/empty-usage.ts";
export type { OnReplyEvent, RelayReply } from "./reply/reply-output.ts";
export { appendsTools } from "./request/appends-tools.ts";
export { type DocumentSource, type DocumentText, takesDocuments } from "./request/documents.ts";
export { type HistoryOptions, prepareContext } from "./request/history.ts";
export { hasOutputForm } from "./request/output-form.ts";
export { sanitizeText } from "./request/sanitize.ts";
export { WireSchemas } from "./request/wire-schemas.ts";
export {
  type AssistantStream,
  type CreateStreamOptions,
  createStream,
  replyPieces,
  type StreamFunction,
  type StreamResult,
  stream,
} from "./stream.ts";
export { Connections } from "./transport/connections.ts";
