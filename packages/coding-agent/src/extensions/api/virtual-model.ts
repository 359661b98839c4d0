import type { AssistantMessage, Model, ThinkingLevel } from "@tau-agent/rpc-protocol/messages";
import type { ExtensionContext } from "./context.ts";

/** A model that can be selected and sends each request to another one. */
export interface VirtualModel {
  /** The provider it is listed under, which may also have real models. */
  readonly provider: string;
  readonly id: string;
  readonly name?: string | undefined;
  /** The available thinking levels; only `off` by default. */
  readonly thinkingLevels?: readonly ThinkingLevel[] | undefined;
  readonly contextWindow?: number | undefined;
  readonly maxTokens?: number | undefined;
  readonly input?: readonly ("text" | "image")[] | undefined;
  /** Chooses the target of a request; if it throws, the request ends with an error. */
  route(request: RouteRequest, context: ExtensionContext): Route | Promise<Route>;
}

/** A request to be routed. */
export interface RouteRequest {
  readonly model: Model;
  readonly thinkingLevel: ThinkingLevel;
  /** What it responds to: a user, the run itself, a failed request, or a caller outside of the run. */
  readonly reason: "user" | "continuation" | "retry" | "direct";
  /** The last model that answered. */
  readonly previous?: { readonly model: Model; readonly thinkingLevel?: ThinkingLevel } | undefined;
  /** The request that failed. */
  readonly failed?:
    | {
        readonly model: Model;
        readonly thinkingLevel?: ThinkingLevel;
        readonly message: AssistantMessage;
      }
    | undefined;
  /** The state that the router last returned on this branch. */
  readonly state?: unknown;
  readonly messages: readonly unknown[];
  readonly signal?: AbortSignal | undefined;
}

/** The target of a request. */
export interface Route {
  readonly model: Model;
  readonly thinkingLevel?: ThinkingLevel | undefined;
  /** Stored on the branch and passed to the next request. */
  readonly state?: unknown;
}
