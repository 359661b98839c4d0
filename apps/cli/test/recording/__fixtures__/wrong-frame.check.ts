import { it } from "vitest";
import { recordFrames } from "../record-host.ts";

const retry = { type: "auto_retry_end", success: true, attempt: 2 };

it("sees a frame that was changed", () => {
  recordFrames([retry, { ...retry, attempt: "mutated" }, { ...retry, attempt: "again" }]);
});

it("sees a frame of another dialect", () => {
  recordFrames([{ type: "text_delta", data: "Hi" }, retry], "pi-rust");
});
