import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { crc32, deflateSync } from "node:zlib";
import type { BillingServer } from "@tau-agent/ai/testing";
import type { Workspace } from "../workspace.ts";
import { prose } from "./script.ts";
import type { VendorChoice } from "./vendors.ts";

/** What a trajectory needs in addition to the common project. */
export interface SessionNeeds {
  /** The context window, if the model's own is too large for the trajectory. */
  readonly window?: number | undefined;
  readonly settings?: object | undefined;
  readonly mcp?: object | undefined;
}

/** The number of source files and of pictures in a project. */
const FILES = 40;
const PICTURES = 25;

/** Fills a workspace with a project and the settings that all hosts read. */
export function fillProject(
  { cwd, agentDirectory }: Workspace,
  {
    vendor,
    server,
    window,
    settings,
    mcp,
  }: SessionNeeds & {
    readonly vendor: VendorChoice;
    readonly server: BillingServer;
  },
): void {
  mkdirSync(join(cwd, "src"));
  mkdirSync(join(cwd, "pictures"));
  for (let number = 0; number < FILES; number++) {
    writeFileSync(join(cwd, sourceFile(number)), source(number));
  }
  for (let number = 0; number < PICTURES; number++) {
    writeFileSync(join(cwd, picture(number)), png(640, 480, number));
  }
  const write = (name: string, value: object) =>
    writeFileSync(join(agentDirectory, name), JSON.stringify(value));
  const baseUrl = server.urls[apis[vendor.vendor]];
  const modelOverrides = window && { [vendor.model]: { contextWindow: window } };
  const provider = { baseUrl, apiKey: "bench", ...(modelOverrides && { modelOverrides }) };
  write("models.json", { providers: { [vendor.vendor]: provider } });
  write("settings.json", { ...settings });
  if (mcp !== undefined) write("mcp.json", { mcpServers: mcp });
}

const apis = {
  anthropic: "anthropic-messages",
  openai: "openai-responses",
  google: "google-generative-ai",
} as const;

/** An MCP server with this many deferred tools that waits until a file exists in the project. */
export function mcpServer(tools: number, file?: string): object {
  const script = fileURLToPath(new URL("../floors/mcp-server.mjs", import.meta.url));
  const args = [script, String(tools), ...(file === undefined ? [] : [file])];
  return { command: process.execPath, args, exposure: "deferred" };
}

/** The path of a source file of about 4 000 tokens. */
export function sourceFile(number: number): string {
  return `src/module-${number % FILES}.ts`;
}

export function picture(number: number): string {
  return `pictures/screen-${number % PICTURES}.png`;
}

function source(number: number): string {
  const lines = Array.from(
    { length: 190 },
    (_, line) => `export const value${line} = "${prose(55, number + line)}";`,
  );
  return `${lines.join("\n")}\n`;
}

function png(width: number, height: number, shade: number): Buffer {
  const header = Buffer.alloc(13);
  header.writeUInt32BE(width, 0);
  header.writeUInt32BE(height, 4);
  header.set([8, 0, 0, 0, 0], 8);
  const pixels = deflateSync(
    Buffer.alloc((width + 1) * height, shade).map((value, at) =>
      at % (width + 1) === 0 ? 0 : value,
    ),
  );
  const signature = Buffer.from([0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  return Buffer.concat([
    signature,
    chunk("IHDR", header),
    chunk("IDAT", pixels),
    chunk("IEND", Buffer.alloc(0)),
  ]);
}

function chunk(type: string, data: Buffer): Buffer {
  const body = Buffer.concat([Buffer.from(type), data]);
  const ends = Buffer.alloc(8);
  ends.writeUInt32BE(data.length, 0);
  ends.writeUInt32BE(crc32(body), 4);
  return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
}
