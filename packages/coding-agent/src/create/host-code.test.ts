import { existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { toolCall, turn } from "@tau-agent/ai/testing";
import { expect, it } from "vitest";
import { describeWith } from "../../../../scripts/testing/describe-with.ts";
import { bubblewrapIsMissing } from "../../../system/src/sandbox/__fixtures__/has-bubblewrap.ts";
import { createTestSession, placesIn, temporaryFolder } from "./__fixtures__/test-session.ts";

const bash = (command: string) => toolCall("bash", { command });
const extension = (...lines: string[]) => [...lines, "export default () => {};", ""].join("\n");

describeWith(bubblewrapIsMissing)("code of a trusted project that runs outside", () => {
  it("is read-only in the sandbox, wherever the settings place it", async () => {
    const folder = temporaryFolder();
    const { cwd } = placesIn(folder);
    const put = (path: string, text: string) => {
      mkdirSync(dirname(join(cwd, path)), { recursive: true });
      writeFileSync(join(cwd, path), text);
    };
    const settings = {
      extensions: ["../tools/deep/ext.ts", "../many/*.ts", "../named-link.ts"],
      packages: ["../pkg"],
    };
    put(".pi/settings.json", JSON.stringify(settings));
    put(".pi/extensions/own.ts", extension('import "../../shared/part.ts";'));
    put("shared/part.ts", "");
    put("tools/deep/ext.ts", extension('import "../lib/helper.ts";', 'import "dep";'));
    put("tools/lib/helper.ts", "");
    put("tools/other.ts", "");
    put("node_modules/dep/package.json", '{"main": "index.js"}');
    put("node_modules/dep/index.js", "");
    put("many/one.ts", extension());
    put("real/linked.ts", extension());
    symlinkSync("real/linked.ts", join(cwd, "named-link.ts"));
    put("pkg/package.json", '{"pi": {"extensions": ["src"]}}');
    put("pkg/src/ext.ts", extension());
    const places = [
      ...["tools/deep/ext.ts", "tools/lib/helper.ts", "node_modules/dep/index.js", "many/one.ts"],
      ...["many/two.ts", "real/linked.ts", "named-link.ts", "pkg/package.json", "pkg/src/ext.ts"],
      ...["pkg/src/new.ts", "shared/part.ts"],
    ];
    const { session } = await createTestSession(
      [
        turn(places.map((path) => bash(`echo evil >> ${path}`))),
        turn([
          bash("mkdir -p tools/node_modules/dep && echo evil > tools/node_modules/dep/index.js"),
          bash("mv tools moved && mkdir -p tools/deep && echo evil > tools/deep/ext.ts"),
          bash("rm -f named-link.ts && echo evil > named-link.ts"),
          toolCall("write", { path: "tools/deep/ext.ts", content: "evil" }),
          toolCall("edit", { path: "pkg/package.json", oldText: "src", newText: "evil" }),
          bash("echo fine > tools/other.ts; echo fine > new.ts; mkdir tools/new"),
        ]),
        "done",
      ],
      {
        ...placesIn(folder),
        sandbox: { mode: "workspace" },
        trustProject: true,
        extensions: { hostModules: async () => ({}) },
      },
    );
    await session.prompt("go");
    for (const path of places) {
      const text = existsSync(join(cwd, path)) ? readFileSync(join(cwd, path), "utf8") : "";
      expect(text, path).not.toContain("evil");
    }
    expect(existsSync(join(cwd, "tools/node_modules"))).toBe(false);
    expect(existsSync(join(cwd, "moved"))).toBe(false);
    expect(readFileSync(join(cwd, "tools/other.ts"), "utf8")).toBe("fine\n");
    expect(existsSync(join(cwd, "new.ts")) && existsSync(join(cwd, "tools/new"))).toBe(true);
  });

  it.each([
    [{ extensions: ["../*.ts"] }, {}],
    [{ extensions: ["../**/ext.ts"] }, {}],
    [{ extensions: [".."] }, {}],
    [{ extensions: ["../../*/ext.ts"] }, {}],
    [{ extensions: ["../link"] }, {}],
    [{ packages: [".."] }, {}],
    [{}, { paths: ["."] }],
  ])("is refused if it could be any new file: %j %j", async (settings, options) => {
    const folder = temporaryFolder();
    const places = placesIn(folder);
    mkdirSync(join(places.cwd, ".pi"));
    symlinkSync(".", join(places.cwd, "link"));
    writeFileSync(join(places.cwd, "ext.ts"), extension());
    writeFileSync(join(places.cwd, "package.json"), '{"pi": {"extensions": ["*.ts"]}}');
    writeFileSync(join(places.cwd, ".pi/settings.json"), JSON.stringify(settings));
    const start = () =>
      createTestSession(["done"], {
        ...places,
        sandbox: { mode: "workspace" },
        trustProject: true,
        extensions: { hostModules: async () => ({}), ...options },
      });
    await expect(start()).rejects.toMatchObject({
      code: "extension_unusable",
      message: expect.stringContaining("commands in the sandbox write into"),
    });
    // With a manifest that lists its files, a package at the top level is accepted.
    writeFileSync(join(places.cwd, "package.json"), '{"pi": {"extensions": ["ext.ts"]}}');
    if ("packages" in settings) await (await start()).session.prompt("go");
  });
});
