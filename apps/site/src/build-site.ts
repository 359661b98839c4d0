/**
 * Builds the site: `node src/build-site.ts` writes it to `dist` and checks its links; `--dev` serves it and
 * watches the pages for changes.
 */
import { readFileSync, watch } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { LinkChecker, LinkState } from "linkinator";
import { build, createServer } from "vitepress";
import { repositoryUrl } from "../../../scripts/publish/repository-fields.ts";
import { writeApiReference } from "./api-reference.ts";
import { stagePages } from "./stage-pages.ts";

const site = fileURLToPath(new URL("..", import.meta.url));
const root = fileURLToPath(new URL("../../..", import.meta.url));
const folder = join(site, ".pages");

const repository = repositoryUrl(JSON.parse(readFileSync(join(root, "package.json"), "utf8")));
const sourceAddress = repository && `${repository}/blob/main`;

stagePages({ root, folder, sourceAddress });
await writeApiReference({ root, folder });
if (process.argv.includes("--dev")) await serve();
else await buildAndCheck();

async function serve(): Promise<void> {
  const server = await createServer(site);
  await server.listen();
  server.printUrls();
  let waiting: NodeJS.Timeout | undefined;
  watch(join(root, "docs"), { recursive: true }, () => {
    clearTimeout(waiting);
    waiting = setTimeout(() => stagePages({ root, folder, sourceAddress }), 100);
  });
}

async function buildAndCheck(): Promise<void> {
  await build(site);
  const { links, passed } = await new LinkChecker().check({
    path: "./",
    serverRoot: join(site, "dist"),
    recurse: true,
    checkFragments: true,
    cleanUrls: true,
    retryErrors: true,
    retryErrorsCount: 3,
    // External links change independently of the site, and CI does not check them. Assets belong to the
    // builder. The builder has checked the pages of the API reference, whose anchors a generator writes.
    linksToSkip: ["/assets/", "/api/@", "^https?://(?!127\\.0\\.0\\.1)"],
  });
  for (const { url, parent, state } of links) {
    if (state === LinkState.BROKEN) process.stderr.write(`broken: ${url} in ${parent}\n`);
  }
  process.stdout.write(`${links.length} links checked\n`);
  if (!passed) process.exitCode = 1;
}
