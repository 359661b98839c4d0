import { it } from "vitest";
import { recordHost } from "../record-host.ts";

it("sees the first half of a frame, as of a host that was killed", () => {
  recordHost(["--mode", "rpc"]).append("stdout", '{"type":"agent_start"}\n{"type":"agent_e');
});
