import type { Model } from "@tau-agent/rpc-protocol/messages";
import { featuresOf } from "./anthropic-messages/features.ts";
import { appendsTools } from "./request/appends-tools.ts";

/** Which requests of an earlier process affect the next request, for a given model. */
export interface RepeatedRequests {
  /** The requests since which instructions, tools or effort have changed; these changes are part of the history. */
  readonly changes: boolean;
  /** Also the requests whose replies contain thinking that no longer fits what precedes it. */
  readonly thinking: boolean;
}

/** Which requests of an earlier process are needed to send the same content again. */
export function repeatedRequests(model: Model): RepeatedRequests {
  const { api, compat = {} } = model;
  const thinking = api === "anthropic-messages" && featuresOf(model).bindsThinking;
  const isAppended = (name: string) => name.startsWith("supportsMidConvo") && compat[name] === true;
  return { changes: appendsTools(model) || Object.keys(compat).some(isAppended), thinking };
}
