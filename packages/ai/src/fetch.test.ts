import { describe, expect, it } from "vitest";
import { guardRedirects } from "./fetch.ts";

type Answer = { status: number; location?: string };

function server(...answers: Answer[]) {
  const seen: string[] = [];
  const fetch: typeof globalThis.fetch = async (input, init) => {
    seen.push(`${init?.method} ${String(input)} ${String(init?.body ?? "")}`.trim());
    const { status, location } = answers[seen.length - 1] ?? { status: 200 };
    return new Response(null, { status, headers: location === undefined ? {} : { location } });
  };
  return {
    post: () => guardRedirects(fetch)("http://a.test/x", { method: "POST", body: "b" }),
    seen,
  };
}

describe("guardRedirects", () => {
  it.each([307, 308])("repeats the request within its origin after %i", async (status) => {
    const { post, seen } = server({ status, location: "/y" }, { status, location: "z?q=1" });
    expect((await post()).status).toBe(200);
    expect(seen).toEqual([
      "POST http://a.test/x b",
      "POST http://a.test/y b",
      "POST http://a.test/z?q=1 b",
    ]);
  });

  it.each([301, 302, 303])("continues with GET and no body after %i", async (status) => {
    const { post, seen } = server({ status, location: "/y" });
    await post();
    expect(seen[1]).toBe("GET http://a.test/y");
  });

  it.each(["http://b.test/x", "https://a.test/x", "http://a.test:81/x", "//b.test/x"])(
    "refuses to follow a redirect to %s",
    async (location) => {
      const { post, seen } = server({ status: 307, location });
      await expect(post()).rejects.toMatchObject({
        code: "invalid_request",
        message: expect.stringContaining("http://a.test redirects the request to another origin"),
      });
      expect(seen).toHaveLength(1);
    },
  );

  it("stops at a redirect loop", async () => {
    const { post } = server(...Array.from({ length: 9 }, () => ({ status: 307, location: "/x" })));
    await expect(post()).rejects.toMatchObject({ code: "invalid_request" });
  });

  it("returns a redirect without a target unchanged", async () => {
    expect((await server({ status: 304 }).post()).status).toBe(304);
    expect((await server({ status: 302 }).post()).status).toBe(302);
  });
});
