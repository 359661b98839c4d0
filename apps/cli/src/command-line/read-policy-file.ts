import { readFileSync } from "node:fs";
import { readPolicy } from "@tau-agent/coding-agent";
import type { ManagedPolicy } from "@tau-agent/rpc-protocol";
import { errorMessage } from "@tau-agent/rpc-protocol/plain";
import { refuse } from "./values.ts";

/**
 * Reads the value of `--policy`: a path, or JSON.
 *
 * @throws {ProtocolError} `invalid_option`
 */
export function readPolicyFile(value: string): ManagedPolicy {
  const isJson = value.trimStart().startsWith("{");
  const text = isJson ? value : readText(value);
  const place = isJson ? "" : `${value}: `;
  try {
    return readPolicy(JSON.parse(text));
  } catch (error) {
    if (error instanceof SyntaxError) refuse("--policy", `${place}it is no JSON: ${error.message}`);
    const { values = {} } = error as { values?: { reason?: string } };
    return refuse("--policy", `${place}${values.reason ?? errorMessage(error)}`);
  }
}

function readText(path: string): string {
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    return refuse("--policy", errorMessage(error));
  }
}
