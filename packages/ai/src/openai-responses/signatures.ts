import { parseObject } from "@tau-agent/rpc-protocol/plain";

/** What must be sent back with a text block: the id of its message and its phase. */
export interface TextSignature {
  readonly id: string;
  readonly phase?: "commentary" | "final_answer" | undefined;
}

export function writeTextSignature(id: string, phase: string | null | undefined): string {
  return JSON.stringify({ v: 1, id, ...(phase && { phase }) });
}

/** Reads a text signature; accepts a bare message id too. */
export function readTextSignature(signature: string | undefined): TextSignature | undefined {
  if (!signature) return undefined;
  if (!signature.startsWith("{")) return { id: signature };
  const parsed = parseObject(signature);
  if (typeof parsed?.id !== "string") return undefined;
  const { id, phase } = parsed;
  return phase === "commentary" || phase === "final_answer" ? { id, phase } : { id };
}

/** Reads a reasoning item stored as a thinking signature; undefined if the signature is from elsewhere. */
export function readReasoningItem(
  signature: string | undefined,
): Record<string, unknown> | undefined {
  const item = signature?.startsWith("{") ? parseObject(signature) : undefined;
  return item?.type === "reasoning" ? item : undefined;
}
