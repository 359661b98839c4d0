import { loadLoop } from "@tau-agent/agent";
import { replyPieces } from "@tau-agent/ai";
import { loadReader } from "@tau-agent/sessions/log";

/**
 * What the first prompt and the first switch of a session load, in pieces of some milliseconds: for programs
 * that have time before they are asked.
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
