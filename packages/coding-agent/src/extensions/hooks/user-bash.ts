import type { BashResult } from "@tau-agent/rpc-protocol";
import { OutputBuffer, type OutputFile } from "@tau-agent/system";
import type { ShellRequest } from "../../run/session-hooks.ts";
import type { UserBashDecision } from "./prompt-events.ts";

export async function runDecidedShell(
  decision: UserBashDecision,
  { command, signal, onDelta, mask }: ShellRequest,
  place: { readonly cwd: string; readonly openOutput: () => OutputFile },
): Promise<BashResult> {
  if ("result" in decision) {
    const { output, exitCode, cancelled, truncated, fullOutputPath } = decision.result;
    return {
      output,
      ...(exitCode === undefined || exitCode === null ? {} : { exitCode }),
      cancelled: cancelled ?? false,
      truncated: truncated ?? false,
      ...(fullOutputPath === undefined || fullOutputPath === null ? {} : { fullOutputPath }),
    };
  }
  const buffer = new OutputBuffer(place.openOutput, { mask });
  const onData = (data: Buffer): void => {
    // Copied, because the extension may reuse the buffer.
    void buffer.append(Buffer.from(data), "stdout");
    void onDelta?.(data.toString("utf8"));
  };
  const { exitCode } = await decision.operations.exec(command, place.cwd, { onData, signal });
  const { truncation, fullOutputPath } = await buffer.finish();
  return {
    output: truncation.content,
    ...(exitCode === null ? {} : { exitCode }),
    cancelled: signal.aborted,
    truncated: truncation.truncated,
    ...(fullOutputPath === undefined ? {} : { fullOutputPath }),
  };
}
