import type { Model } from "@tau-agent/rpc-protocol/messages";
import { featuresOf } from "./anthropic-messages/features.ts";
import { appendsTools } from "./request/appends-tools.ts";

/** Which requests of an earlier process decide what the next one sends, for a model. */
export interface RepeatedRequests {
  /** Those since which instructions, tools or effort had changed: the changes are in the history. */
  readonly changes: boolean;
  /** Also those whose replies have thinking that no longer fits what is before it. */
  readonly thinking: boolean;
}

/** What has to be known of requests of an earlier process to send the same again. */
export function repeatedRequests(model: Model): RepeatedRequests {
  const { api, compat = {} } = model;
  const thinking = api === "anthropic-messages" && featuresOf(model).bindsThinking;
  const isAppended = (name: string) => name.startsWith("supportsMidConvo") && compat[name] === true;
  return { changes: appendsTools(model) || Object.keys(compat).some(isAppended), thinking };
}
