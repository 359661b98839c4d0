import { isDeepStrictEqual } from "node:util";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { RpcError } from "../base/errors.ts";
import type { Connection } from "../connection/connection.ts";
import { decodeResult } from "./command-methods.ts";

/**
 * Asks the host for its policies, which must include exactly each requested one.
 *
 * @throws {RpcError} `policy_denied`
 */
export async function confirmPolicy(
  connection: Connection,
  wanted: readonly ManagedPolicy[],
): Promise<void> {
  const given = await givenTo(connection);
  const plain = wanted.map((policy): unknown => JSON.parse(JSON.stringify(policy)));
  if (plain.every((policy) => given?.some((each) => isDeepStrictEqual(each, policy)))) return;
  const found = given === undefined ? "it knows no policies" : "its policies do not include it";
  const text = `The host does not run with the policy of this client: ${found}. Let its command pass --policy on`;
  throw new RpcError(text, { code: "policy_denied", command: "get_policy" });
}

/** Undefined for a host that does not support policies. */
async function givenTo(connection: Connection): Promise<readonly unknown[] | undefined> {
  try {
    const { answer } = connection.send("get_policy", {});
    return decodeResult("get_policy", await answer).given;
  } catch (error) {
    if (error instanceof RpcError) return undefined;
    throw error;
  }
}
