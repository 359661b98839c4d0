import { readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import type { Child } from "../child.ts";
import type { FrameReceiver } from "../frame-receiver.ts";
import type { BenchOptions } from "../measurement.ts";
import { SocketClient } from "../socket-client.ts";
import type { Workspace } from "../workspace.ts";

const floorProgram = fileURLToPath(new URL("../floors/many-deltas.mjs", import.meta.url));
const libraryProgram = fileURLToPath(new URL("../floors/embedded-sessions.mjs", import.meta.url));

/** A program with many sessions, and its one client. */
export interface SessionProgram {
  readonly child: Child;
  readonly client: FrameReceiver;
}

/** A connection between sessions and their client. */
export interface SessionWay {
  /** Appended to `many-sessions` in the names of measurements. */
  readonly suffix: string;
  readonly startHost: (
    workspace: Workspace,
    hostCommand: BenchOptions["hostCommand"],
  ) => Promise<SessionProgram>;
  readonly startFloor: (workspace: Workspace) => Promise<SessionProgram>;
}

const onStdio = (child: Child): SessionProgram => ({ child, client: child });

async function overSocket(child: Child): Promise<SessionProgram> {
  const { url, tokenFile } = await child.next(({ type }) => type === "listening");
  const token =
    tokenFile === undefined ? undefined : readFileSync(String(tokenFile), "utf8").trim();
  return { child, client: await SocketClient.connect(`${url}/rpc`, token) };
}

const sessionArguments = ["--sessions", "--no-session"];

export const sessionWays: readonly SessionWay[] = [
  {
    suffix: "",
    startHost: async (workspace, command) =>
      onStdio(workspace.spawn(workspace.command(command, sessionArguments))),
    startFloor: async (workspace) => onStdio(workspace.spawn([process.execPath, floorProgram])),
  },
  {
    suffix: "-websocket",
    startHost: (workspace, command) => {
      const listening = [...sessionArguments, "--listen", "127.0.0.1:0"];
      return overSocket(workspace.spawn(workspace.command(command, listening)));
    },
    startFloor: (workspace) =>
      overSocket(workspace.spawn([process.execPath, floorProgram, "--listen"])),
  },
  {
    // A program that embeds sessions; it forwards the deltas as the floor does.
    suffix: "-library",
    startHost: async (workspace) => onStdio(workspace.spawn([process.execPath, libraryProgram])),
    startFloor: async (workspace) => onStdio(workspace.spawn([process.execPath, floorProgram])),
  },
];
