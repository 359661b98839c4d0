import { isJsonObject } from "@tau-agent/rpc-protocol/plain";
import type { Random } from "../../../../packages/ai/test/chaos/random.ts";

type Frame = Readonly<Record<string, unknown>>;

/** How the simulated user answers a host request, and after what delay; undefined for other frames. */
export function answerOf(
  { type, id, method, params }: Frame,
  random: Random,
): { readonly frame: Frame; readonly afterMs: number } | undefined {
  if (type !== "host_request" || !isJsonObject(params)) return undefined;
  const result = resultOf(method, params);
  return { frame: { type: "host_response", id, result }, afterMs: random.below(150) };
}

function resultOf(method: unknown, params: Frame): Frame {
  if (method === "tool_approval") return { decision: "allow" };
  if (method === "budget")
    return { limit: Math.max(Number(params.used), Number(params.limit)) + 2 };
  const questions = params.questions as readonly { readonly options: readonly Frame[] }[];
  return { answers: questions.map(({ options }) => ({ labels: [options[0]?.label] })) };
}
