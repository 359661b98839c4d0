import { spawnSync } from "node:child_process";
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

/** How to start a browser: the options of playwright's `launch` that depend on its origin. */
export interface BrowserLaunch {
  readonly executablePath?: string;
  readonly channel?: string;
  readonly args: string[];
  readonly env?: Record<string, string>;
}

/** Disables background activity of the browser: it should load nothing but the page. */
const quiet = [
  "--no-sandbox",
  "--disable-gpu",
  "--disable-quic",
  "--no-first-run",
  "--disable-background-networking",
  "--disable-component-update",
  "--disable-sync",
];

/**
 * The package's own configuration names Lambda's folders. System fonts take precedence if there are any. A
 * relative cache folder would be created in the working directory of the test.
 */
const fontSettings = (folder: string) => `<?xml version="1.0"?>
<!DOCTYPE fontconfig SYSTEM "fonts.dtd">
<fontconfig>
  <dir>/usr/share/fonts</dir>
  <dir prefix="relative">fonts</dir>
  <cachedir>${join(folder, "fonts", "cache")}</cachedir>
</fontconfig>
`;

const modules = fileURLToPath(new URL("../../node_modules", import.meta.url));

/**
 * The browser for tests and recordings. On 64-bit Linux, it comes from npm with the required libraries and
 * fonts, and is unpacked once beside the packages. Elsewhere, it is the system's Chrome, or the program that
 * `TAU_CHROMIUM` names.
 */
export function browserLaunch(): BrowserLaunch {
  const named = process.env.TAU_CHROMIUM;
  if (named !== undefined) return { executablePath: named, args: quiet };
  if (process.platform !== "linux" || process.arch !== "x64") {
    return { channel: "chrome", args: quiet };
  }
  const folder = unpackedBrowser();
  const settings = join(folder, "fonts", "fonts.conf");
  const wanted = fontSettings(folder);
  if (!existsSync(settings) || readFileSync(settings, "utf8") !== wanted) {
    writeFileSync(settings, wanted);
  }
  return {
    executablePath: join(folder, "chromium"),
    args: quiet,
    env: {
      ...(process.env as Record<string, string>),
      LD_LIBRARY_PATH: join(folder, "al2023", "lib"),
      FONTCONFIG_PATH: join(folder, "fonts"),
    },
  };
}

function unpackedBrowser(): string {
  const manifest = join(modules, "@sparticuz/chromium/package.json");
  const { version } = JSON.parse(readFileSync(manifest, "utf8")) as { version: string };
  const folder = join(modules, ".cache", `chromium-${version}`);
  if (existsSync(folder)) return folder;
  mkdirSync(dirname(folder), { recursive: true });
  const draft = mkdtempSync(`${folder}-`);
  // The package unpacks into the temporary folder of its process, and its libraries only on Lambda.
  const { status, stderr } = spawnSync(
    process.execPath,
    [
      "--input-type=module",
      "--eval",
      'import chromium from "@sparticuz/chromium"; await chromium.executablePath();',
    ],
    {
      cwd: dirname(modules),
      env: { PATH: process.env.PATH, TMPDIR: draft, AWS_EXECUTION_ENV: "AWS_Lambda_nodejs24.x" },
      encoding: "utf8",
    },
  );
  if (status !== 0) throw new Error(`Chromium could not be unpacked:\n${stderr}`);
  try {
    renameSync(draft, folder);
  } catch (error) {
    // Another process has finished first.
    rmSync(draft, { recursive: true, force: true });
    if (!existsSync(folder)) throw error;
  }
  return folder;
}
