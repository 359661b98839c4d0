import { loadLoop } from "@tau-agent/agent";
import { replyPieces } from "@tau-agent/ai";
import { loadReader } from "@tau-agent/sessions/log";

/**
 * Loads in advance what the first prompt and the first switch of a session need, in steps of a few milliseconds, for
 * programs that are idle after their start.
 *
 * @param api - the wire format of the model, if it is known
 */
export function firstPieces(api: string | undefined): readonly (() => Promise<unknown>)[] {
  return [
    loadLoop,
    () => import("../resources/read-resources.ts"),
    () => import("../resources/rules/load-rules.ts"),
    ...(api === undefined ? [] : replyPieces(api)),
    loadReader,
  ];
}
