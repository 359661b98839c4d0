import { describe, expect, it } from "vitest";
import { chooseDialect } from "./choose-dialect.ts";

const chosen = async (flag?: string, variable?: string) =>
  (await chooseDialect(flag, variable === undefined ? {} : { PI_RPC_PROTOCOL: variable })).name;

describe("chooseDialect", () => {
  it("prefers the environment to the flag, and the flag to the default", async () => {
    expect(await chosen()).toBe("pi");
    expect(await chosen(undefined, "")).toBe("pi");
    expect(await chosen("co-mono")).toBe("co-mono");
    expect(await chosen("co-mono", "pisces")).toBe("pisces");
  });

  it("names the source and the valid choices when the dialect is unknown", async () => {
    await expect(chosen("pi", "klingon")).rejects.toThrow(
      'Invalid option PI_RPC_PROTOCOL: "klingon" is not one of pi, pi-1, pisces, oh-my-pi, oh-my-pi-18, co-mono, pi-rust',
    );
  });
});
