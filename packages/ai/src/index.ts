export {
  isProviderError,
  ProviderError,
  type ProviderErrorCode,
  type ProviderErrorInit,
} from "./errors.ts";
export type {
  BlockKey,
  CacheRetention,
  Context,
  Delta,
  Provider,
  StreamOptions,
  ThinkingBudgets,
  TokenCounts,
  ToolDefinition,
} from "./provider.ts";
export type { AssistantStream, StreamFunction, StreamResult } from "./stream.ts";
