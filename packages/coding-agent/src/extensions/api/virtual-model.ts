import type { AssistantMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { ExtensionContext } from "./context.ts";

/** A model that can be selected and sends each request to another one. */
export interface VirtualModel {
  /** The provider it is listed under, with or without models of its own. */
  readonly provider: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** Levels to choose from; only `off` without them. */
  readonly thinkingLevels?: readonly ThinkingLevel[] | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly input?: readonly ("text" | "image")[] | undefined;
  /** Decides where a request goes; if it throws, the request ends as an error. */
  route(request: RouteRequest, context: ExtensionContext): Route | Promise<Route>;
}

/** A request on its way. */
export interface RouteRequest {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  /** What it answers: a user, the run itself, a failed request, or a caller outside of the run. */
  readonly reason: "user" | "continuation" | "retry" | "direct";
  /** The model that answered last. */
  readonly previous?: { readonly model: Model; readonly thinkingLevel?: ThinkingLevel } | undefined;
  /** The request that failed. */
  readonly failed?:
    | {
        readonly model: Model;
        readonly thinkingLevel?: ThinkingLevel;
        readonly message: AssistantMessage;
      }
    | undefined;
  /** What the router last returned as its state on this branch. */
  readonly state?: unknown;
  readonly messages: readonly unknown[];
  readonly signal?: AbortSignal | undefined;
}

/** Where a request goes. */
export interface Route {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** Stored on the branch and passed to the next request. */
  readonly state?: unknown;
}
