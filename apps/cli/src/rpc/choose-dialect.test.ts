import { describe, expect, it } from "vitest";
import { chooseDialect } from "./choose-dialect.ts";

const chosen = async (flag?: string, variable?: string) =>
  (await chooseDialect(flag, variable === undefined ? {} : { PI_RPC_PROTOCOL: variable })).name;

describe("chooseDialect", () => {
  it("takes the environment before the flag, and the flag before the default", async () => {
    expect(await chosen()).toBe("pi");
    expect(await chosen(undefined, "")).toBe("pi");
    expect(await chosen("co-mono")).toBe("co-mono");
    expect(await chosen("co-mono", "pisces")).toBe("pisces");
  });

  it("names the place and the choices when there is no such dialect", async () => {
    await expect(chosen("pi", "klingon")).rejects.toThrow(
      'Invalid option PI_RPC_PROTOCOL: "klingon" is not one of pi, pi-1, pisces, oh-my-pi, oh-my-pi-18, co-mono, pi-rust',
    );
  });
});
