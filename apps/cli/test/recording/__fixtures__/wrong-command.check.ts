import { it } from "vitest";
import { recordHost } from "../record-host.ts";

it("sees a command that is refused, as the schema says it will be", () => {
  recordHost(["--mode", "rpc"]).append("stdin", '{"type":"prompt","message":1}\n');
});
