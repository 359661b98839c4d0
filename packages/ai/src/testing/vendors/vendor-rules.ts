import { listOf, objectOf } from "../wire/json.ts";
import type { VendorRule } from "./vendor.ts";

/** An endpoint that refuses certain members. */
export function refuses(...members: readonly string[]): VendorRule {
  return function* complaints({ body }) {
    for (const member of members) if (member in body) yield `Unknown parameter: '${member}'`;
  };
}

/** An endpoint that ends replies early unless a limit is set. */
export const needsLimit: VendorRule = function* complaints({ body }) {
  const { max_tokens, max_completion_tokens } = body;
  if (max_tokens === undefined && max_completion_tokens === undefined) {
    yield "max_tokens is required";
  }
};

/** Only OpenAI has the role `developer` in addition to `system`. */
export const noDeveloper: VendorRule = function* complaints({ body }) {
  if (listOf(body.messages).some(({ role }) => role === "developer")) {
    yield "Invalid role: 'developer'";
  }
};

/** An endpoint that refuses earlier thinking. */
export const noThinkingInHistory: VendorRule = function* complaints({ body }) {
  for (const message of listOf(body.messages)) {
    for (const member of ["reasoning", "reasoning_content", "reasoning_details"]) {
      if (member in message) yield `messages: property '${member}' is unsupported`;
    }
  }
};

/** An endpoint that, while thinking is on, requires the thinking of all earlier replies with calls. */
export const needsThinkingOfCalls: VendorRule = function* complaints({ body }) {
  if (objectOf(body.thinking).type !== "enabled") return;
  for (const message of listOf(body.messages)) {
    if (message.role !== "assistant" || typeof message.reasoning_content === "string") continue;
    yield "The reasoning_content in the thinking mode must be passed back to the API.";
  }
};

/** An endpoint that requires a header. */
export function needsHeader(name: string, value: RegExp): VendorRule {
  return function* complaints({ headers }) {
    if (!value.test(String(headers[name] ?? ""))) yield `Header ${name} is missing`;
  };
}

/** An endpoint that refuses an empty list of tools. */
export const noEmptyTools: VendorRule = function* complaints({ body }) {
  if (Array.isArray(body.tools) && body.tools.length === 0) yield "[] is too short - 'tools'";
};
